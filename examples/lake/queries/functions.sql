-- Which functions cost the most: time of their own and with all that they call, summed over the runs.
SELECT package, file, function, sum(self_us) AS own_us, sum(total_us) AS with_calls_us,
       count(DISTINCT run_id) AS runs
FROM functions
GROUP BY package, file, function
ORDER BY own_us DESC, package, file, function
