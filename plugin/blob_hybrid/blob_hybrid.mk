blob_hybrid_SOURCES = advice.cc backoff.cc databases.cc error_log.cc factory.cc family.cc files.cc filter.cc flush_gate.cc gc_compaction.cc gc_family.cc gc_job.cc gc_picker.cc gc_progress.cc gc_scheduler.cc inspect.cc known_sst.cc listener.cc metrics_page.cc metrics_reporter.cc model.cc options.cc paths.cc properties.cc ranges.cc reader.cc register.cc report.cc settings.cc sketch.cc space.cc stats.cc subcompaction.cc survey.cc survey_read.cc table.cc verify.cc victims.cc
blob_hybrid_HEADERS = blob_hybrid.h
blob_hybrid_FUNC = register_blob_hybrid
