"""What the demo shows, one module for each thing; ../common/demo.py runs them.

A module has THING, PLUGIN, PROGRAMS (those of ../CMakeLists.txt), MEASURES and part(setup), which
makes what it needs and returns a demo.Part, or raises drivers.NotShown.
"""

# In their order, with the seconds that each may take in all. What one leaves the next ones have.
SECONDS = {
    "raw_wal_fs": 40,
    "tiered_env_disks": 50,
    "tiered_env_families": 25,
    "tiered_env_memory": 55,
    "tiered_env_pmem": 20,
    "secondary_cache_2q": 50,
    "hot_promotion": 55,
    "blob_hybrid": 45,
}
