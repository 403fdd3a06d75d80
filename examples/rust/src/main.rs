// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

//! plugins FOLDER [PLUGIN...]: a database with each plugin, in Rust.
//!
//! Each database that FOLDER does not have is made and filled; each record of the others is read.
//! The statistics file of the plugin says whether it was used.

mod plugin;
#[cfg(feature = "rocktier")]
mod rocktier;

use std::error::Error;
use std::path::{absolute, Path};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use plugin::{Plugin, PLUGINS};
use rocksdb::{Cache, Env, Options, DB};

const RECORDS: usize = 8000;
const ROUNDS: usize = 4;
/// All records in another order for each round.
const STEPS: [usize; ROUNDS] = [1, 733, 1999, 2777];
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    #[cfg(feature = "rocktier")]
    rocktier::check()?;
    let mut arguments = env::args().skip(1);
    let folder = absolute(arguments.next().ok_or("usage: plugins FOLDER [PLUGIN...]")?)?;
    let named: Vec<String> = arguments.collect();
    for plugin in &PLUGINS {
        if named.is_empty() || named.iter().any(|name| name == plugin.name) {
            let result = run(plugin, &folder.join(plugin.name))?;
            println!("{:<18} {result}", plugin.name);
        }
    }
    Ok(())
}

fn run(plugin: &Plugin, folder: &Path) -> Result<String, Box<dyn Error>> {
    let new = !folder.exists();
    if new {
        prepare(plugin, folder)?;
    }
    let db = match open(folder) {
        Ok(db) => db,
        Err(refusal) => {
            let reason = refusal.to_string();
            return Ok(format!("refused: {}", reason.lines().next().unwrap_or_default()));
        }
    };
    if new {
        fill(&db)?;
        let figure = used(plugin, folder, &db)?;
        return Ok(format!("{RECORDS} records written and found; {figure}"));
    }
    check(&db)?;
    Ok("all records are there".to_owned())
}

/// Makes the folders, and the OPTIONS file where `open` finds it.
fn prepare(plugin: &Plugin, folder: &Path) -> Result<(), Box<dyn Error>> {
    for name in ["fast", "slow", "options"] {
        fs::create_dir_all(folder.join(name))?;
    }
    let path = folder.to_str().ok_or("the path of the folder is no UTF-8")?;
    let options = plugin.options.replace("FOLDER", path);
    fs::write(folder.join("options/OPTIONS-000001"), options)?;
    Ok(())
}

/// The crate reads OPTIONS files as RocksDB keeps them. It gives them a block cache of its own.
fn open(folder: &Path) -> Result<DB, rocksdb::Error> {
    let cache = Cache::new_lru_cache(256 << 10);
    let (options, families) =
        Options::load_latest(folder.join("options"), Env::new()?, false, cache)?;
    DB::open_cf_descriptors(&options, folder.join("db"), families)
}

fn key(record: usize) -> String {
    format!("key{record:07}")
}

fn value(record: usize, round: usize) -> String {
    format!("{record} {round} ").repeat(120)
}

fn fill(db: &DB) -> Result<(), rocksdb::Error> {
    for (round, step) in STEPS.iter().enumerate() {
        for record in (0..RECORDS).map(|i| i * step % RECORDS) {
            db.put(key(record), value(record, round))?;
        }
    }
    db.compact_range(None::<&[u8]>, None::<&[u8]>);
    Ok(())
}

/// Compares all records with what was written.
fn check(db: &DB) -> Result<(), Box<dyn Error>> {
    for record in 0..RECORDS {
        if db.get(key(record))?.as_deref() != Some(value(record, ROUNDS - 1).as_bytes()) {
            return Err(format!("another value than the one written: {}", key(record)).into());
        }
    }
    Ok(())
}

/// Reads until the plugin's figure is above 0. Copies of hot records, and blocks that are read
/// twice, are kept from then on.
fn used(plugin: &Plugin, folder: &Path, db: &DB) -> Result<String, Box<dyn Error>> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        check(db)?;
        let counted = plugin.counted(folder);
        if counted > 0.0 {
            return Ok(format!("{} {counted}", plugin.figure));
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(format!("{} does not count {}", plugin.statistics, plugin.figure).into())
}
