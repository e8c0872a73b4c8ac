-- Which packages cost how much of all work, commit by commit.
WITH commits AS (
  SELECT commit, min(commit_seq) AS seq, sum(busy_us) AS work_us FROM groups WHERE kind = 'run' GROUP BY commit
), packages AS (
  SELECT commit, package, sum(self_us) AS own_us FROM functions GROUP BY commit, package
)
SELECT commits.seq AS seq, commits.commit AS commit_hash, packages.package AS package,
       packages.own_us / commits.work_us AS share
FROM commits JOIN packages ON packages.commit = commits.commit
WHERE commits.work_us > 0
ORDER BY seq, commit_hash, package
