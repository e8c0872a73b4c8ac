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
	// The values of each type, by the function on top.
	self := map[string][]int64{}
	totals := make([]int64, len(types))
	labels := map[string]map[string]int64{}
	for _, sample := range parsed.Sample {
		line := sample.Location[0].Line[0]
		key := fmt.Sprintf("%s %s:%d", line.Function.Name, line.Function.Filename, line.Function.StartLine)
		if self[key] == nil {
			self[key] = make([]int64, len(types))
		}
		for index, value := range sample.Value {
			self[key][index] += value
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
		"types": types, "samples": len(parsed.Sample), "self": self, "totals": totals, "labels": labels,
		"functions": len(parsed.Function), "comments": parsed.Comments, "period": parsed.Period,
		"timeNanos": parsed.TimeNanos, "durationNanos": parsed.DurationNanos,
		"defaultType": parsed.DefaultSampleType,
	})
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
