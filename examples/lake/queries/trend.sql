-- A function's share of the work of each day: the median and the 95th percentile over runs, not over calls.
-- A run without a sample of the function counts as 0.
WITH costs AS (
  SELECT run_id, sum(self_us) AS own_us FROM functions
  WHERE package = :package AND file = :file AND function = :function GROUP BY run_id
), shares AS (
  SELECT runs.date AS day, coalesce(costs.own_us, 0) / runs.busy_us AS share
  FROM groups AS runs LEFT JOIN costs ON costs.run_id = runs.run_id
  WHERE runs.kind = 'run' AND runs.busy_us > 0
)
SELECT day, count(*) AS runs, quantile_cont(share, 0.5) AS median, quantile_cont(share, 0.95) AS p95
FROM shares GROUP BY day ORDER BY day
