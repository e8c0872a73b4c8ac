-- The commits at which a function's share of the work changed the most: means before and after each commit, and
-- their distance in standard errors. A first look: `cpu-prof lake blame` also corrects for the number of questions.
WITH costs AS (
  SELECT run_id, sum(self_us) AS own_us FROM functions
  WHERE package = :package AND file = :file AND function = :function GROUP BY run_id
), shares AS (
  SELECT runs.commit AS commit_hash, runs.commit_seq AS seq, coalesce(costs.own_us, 0) / runs.busy_us AS share
  FROM groups AS runs LEFT JOIN costs ON costs.run_id = runs.run_id
  WHERE runs.kind = 'run' AND runs.busy_us > 0 AND runs.commit_seq IS NOT NULL
), commits AS (
  SELECT seq, min(commit_hash) AS commit_hash, count(*) AS n, sum(share) AS s, sum(share * share) AS q
  FROM shares GROUP BY seq
), sums AS (
  SELECT seq, commit_hash,
         sum(n) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - n AS n1,
         sum(s) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - s AS s1,
         sum(q) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - q AS q1,
         sum(n) OVER () AS all_n, sum(s) OVER () AS all_s, sum(q) OVER () AS all_q
  FROM commits
), sides AS (
  SELECT seq, commit_hash, n1, all_n - n1 AS n2, s1 / n1 AS mean_before,
         (all_s - s1) / (all_n - n1) AS mean_after, (q1 - s1 * s1 / n1) / (n1 - 1) AS v1,
         ((all_q - q1) - (all_s - s1) * (all_s - s1) / (all_n - n1)) / (all_n - n1 - 1) AS v2
  FROM sums WHERE n1 >= 8 AND all_n - n1 >= 8
)
SELECT seq, commit_hash, mean_before, mean_after,
       (mean_after - mean_before) / sqrt(v1 / n1 + v2 / n2) AS distance
FROM sides WHERE v1 / n1 + v2 / n2 > 0
ORDER BY abs((mean_after - mean_before) / sqrt(v1 / n1 + v2 / n2)) DESC, seq
