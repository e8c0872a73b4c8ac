// Reads a pprof file by Google's own package, checks the file, and prints what it says as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/pprof/profile"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		fail(err)
	}
	parsed, err := profile.Parse(file)
	if err != nil {
		fail(err)
	}
	if err := parsed.CheckValid(); err != nil {
		fail(err)
	}
	types := []string{}
	for _, kind := range parsed.SampleType {
		types = append(types, kind.Type+"/"+kind.Unit)
	}
	// The values of each type, by the function on top, and by each function on the stack.
	self := map[string][]int64{}
	total := map[string][]int64{}
	totals := make([]int64, len(types))
	labels := map[string]map[string]int64{}
	add := func(all map[string][]int64, function *profile.Function, values []int64) {
		key := fmt.Sprintf("%s %s:%d", function.Name, function.Filename, function.StartLine)
		if all[key] == nil {
			all[key] = make([]int64, len(types))
		}
		for index, value := range values {
			all[key][index] += value
		}
	}
	for _, sample := range parsed.Sample {
		add(self, sample.Location[0].Line[0].Function, sample.Value)
		// Recursion counts once.
		onStack := map[*profile.Function]bool{}
		for _, location := range sample.Location {
			for _, line := range location.Line {
				if !onStack[line.Function] {
					onStack[line.Function] = true
					add(total, line.Function, sample.Value)
				}
			}
		}
		for index, value := range sample.Value {
			totals[index] += value
		}
		for label, values := range sample.Label {
			if labels[label] == nil {
				labels[label] = map[string]int64{}
			}
			for _, value := range values {
				labels[label][value] += sample.Value[1]
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"types": types, "samples": len(parsed.Sample), "self": self, "total": total, "totals": totals, "labels": labels,
		"functions": len(parsed.Function), "comments": parsed.Comments, "period": parsed.Period,
		"timeNanos": parsed.TimeNanos, "durationNanos": parsed.DurationNanos,
		"defaultType": parsed.DefaultSampleType,
	})
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
