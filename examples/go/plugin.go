// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A plugin, and how it shows that it was used: the statistics file that it renews each second, and
// a figure in it. docs/metrics.md has all.
type plugin struct {
	name, statistics, figure string
}

var plugins = []plugin{
	{"raw_wal_fs", "db/rocktier_raw_wal_fs.prom", "written_bytes_total"},
	{"tiered_env", "db/rocktier_tiered_env.prom", "tier_read_bytes_total"},
	{"secondary_cache_2q", "cache.prom", "hits_total"},
	{"hot_promotion", "hot/rocktier_hot_promotion.prom", "served_store_total"},
	{"blob_hybrid", "db/rocktier_blob_hybrid.prom", "moved_values_total"},
}

// optionsText returns an OPTIONS file of one column family as the text that RocksDB takes: the
// section of the table factory is an option of the family.
func optionsText(file, folder string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var options, table []string
	for _, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "[TableOptions/"):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "[TableOptions/"), " ")
			table = append(table, "id="+name)
		case line[0] == '[':
		case table != nil:
			table = append(table, line)
		default:
			options = append(options, line)
		}
	}
	if table != nil {
		options = append(options, "table_factory={"+strings.Join(table, ";")+"}")
	}
	return strings.ReplaceAll(strings.Join(options, ";"), "FOLDER", folder), nil
}

// counted returns the figure as the statistics file has it now; with several labels their sum, and
// 0 without a file.
func (p plugin) counted(folder string) float64 {
	content, err := os.ReadFile(filepath.Join(folder, p.statistics))
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, line := range strings.Split(string(content), "\n") {
		rest, found := strings.CutPrefix(line, "rocktier_"+p.name+"_"+p.figure)
		if found && strings.IndexAny(rest, "{ ") == 0 {
			value, _ := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
			sum += value
		}
	}
	return sum
}
