// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

// plugins OPTIONS FOLDER [PLUGIN...]: a database with each plugin, in Go.
//
// OPTIONS has an OPTIONS file for each plugin. Each database that FOLDER does not have is made and
// filled; each record of the others is read. The statistics file of the plugin says whether it was
// used.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linxGnu/grocksdb"
)

const (
	records  = 8000
	patience = 60 * time.Second
)

// All records are written in another order in each round.
var steps = []int{1, 733, 1999, 2777}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: plugins OPTIONS FOLDER [PLUGIN...]")
	}
	folder, err := filepath.Abs(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	named := os.Args[3:]
	for _, p := range plugins {
		if len(named) == 0 || slices.Contains(named, p.name) {
			result, err := run(p, os.Args[1], filepath.Join(folder, p.name))
			if err != nil {
				log.Fatalf("%s: %v", p.name, err)
			}
			fmt.Printf("%-18s %s\n", p.name, result)
		}
	}
}

func run(p plugin, options, folder string) (string, error) {
	_, err := os.Stat(folder)
	isNew := errors.Is(err, fs.ErrNotExist)
	for _, name := range []string{"fast", "slow"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			return "", err
		}
	}
	text, err := optionsText(filepath.Join(options, p.name+".ini"), folder)
	if err != nil {
		return "", err
	}
	db, err := open(text, filepath.Join(folder, "db"))
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return "refused: " + reason, nil
	}
	defer db.Close()
	if isNew {
		if err := fill(db); err != nil {
			return "", err
		}
		figure, err := used(p, folder, db)
		return fmt.Sprintf("%d records written and found; %s", records, figure), err
	}
	return "all records are there", check(db)
}

func open(text, folder string) (*grocksdb.DB, error) {
	defaults := grocksdb.NewDefaultOptions()
	defer defaults.Destroy()
	options, err := grocksdb.GetOptionsFromString(defaults, text)
	if err != nil {
		return nil, err
	}
	defer options.Destroy()
	return grocksdb.OpenDb(options, folder)
}

func key(record int) []byte {
	return fmt.Appendf(nil, "key%07d", record)
}

func value(record, round int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d %d ", record, round), 120)
}

func fill(db *grocksdb.DB) error {
	options := grocksdb.NewDefaultWriteOptions()
	defer options.Destroy()
	for round, step := range steps {
		for i := 0; i < records; i++ {
			record := i * step % records
			if err := db.Put(options, key(record), value(record, round)); err != nil {
				return err
			}
		}
	}
	db.CompactRange(grocksdb.Range{})
	return nil
}

// check compares all records with what was written.
func check(db *grocksdb.DB) error {
	options := grocksdb.NewDefaultReadOptions()
	defer options.Destroy()
	for record := 0; record < records; record++ {
		found, err := db.GetBytes(options, key(record))
		if err != nil {
			return err
		}
		if !bytes.Equal(found, value(record, len(steps)-1)) {
			return fmt.Errorf("another value than the one written: %s", key(record))
		}
	}
	return nil
}

// used reads until the plugin's figure is above 0. Copies of hot records, and blocks that are read
// twice, are kept from then on.
func used(p plugin, folder string, db *grocksdb.DB) (string, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := check(db); err != nil {
			return "", err
		}
		if counted := p.counted(folder); counted > 0 {
			return fmt.Sprintf("%s %.0f", p.figure, counted), nil
		}
	}
	return "", fmt.Errorf("%s does not count %s", p.statistics, p.figure)
}
