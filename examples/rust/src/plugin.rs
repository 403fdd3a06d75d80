// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

//! The plugins, and how each shows that it was used.

use std::fs;
use std::path::Path;

pub struct Plugin {
    pub name: &'static str,
    /// The OPTIONS file; FOLDER is replaced.
    pub options: &'static str,
    /// The statistics file that the plugin renews each second, and a figure in it; docs/metrics.md
    /// has all.
    pub statistics: &'static str,
    pub figure: &'static str,
}

pub const PLUGINS: [Plugin; 5] = [
    Plugin {
        name: "raw_wal_fs",
        options: include_str!("../../options/raw_wal_fs.ini"),
        statistics: "db/rocktier_raw_wal_fs.prom",
        figure: "written_bytes_total",
    },
    Plugin {
        name: "tiered_env",
        options: include_str!("../../options/tiered_env.ini"),
        statistics: "db/rocktier_tiered_env.prom",
        figure: "tier_read_bytes_total",
    },
    Plugin {
        name: "secondary_cache_2q",
        options: include_str!("../secondary_cache_2q.ini"),
        statistics: "cache.prom",
        figure: "hits_total",
    },
    Plugin {
        name: "hot_promotion",
        options: include_str!("../../options/hot_promotion.ini"),
        statistics: "hot/rocktier_hot_promotion.prom",
        figure: "served_store_total",
    },
    Plugin {
        name: "blob_hybrid",
        options: include_str!("../../options/blob_hybrid.ini"),
        statistics: "db/rocktier_blob_hybrid.prom",
        figure: "moved_values_total",
    },
];

impl Plugin {
    /// The figure as the statistics file has it now; with several labels their sum, and 0 without a
    /// file.
    pub fn counted(&self, folder: &Path) -> f64 {
        let name = format!("rocktier_{}_{}", self.name, self.figure);
        let text = fs::read_to_string(folder.join(self.statistics)).unwrap_or_default();
        text.lines()
            .filter_map(|line| line.strip_prefix(&name))
            .filter(|rest| rest.starts_with(['{', ' ']))
            .filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }
}
