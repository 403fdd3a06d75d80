# Functions for the CMakeLists.txt files of tests, examples and benchmarks.

# rocktier_executable(name [PLUGIN plugin] SOURCES file... [LIBS lib...])
#
# An executable that links with RocksDB and the plugins. Left out when `plugin` is not built; else
# rocktier_tests_<plugin> builds it, too.
function(rocktier_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PLUGIN" "SOURCES;LIBS")
  if(arg_PLUGIN AND NOT arg_PLUGIN IN_LIST rocktier_plugins)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} rocktier_rocksdb)
  if(arg_PLUGIN)
    add_dependencies(rocktier_tests_${arg_PLUGIN} ${name})
  endif()
endfunction()

# rocktier_tests_<plugin> builds what the tests of a plugin run, but for the long ones.
foreach(plugin IN LISTS rocktier_plugins)
  add_custom_target(rocktier_tests_${plugin})
  add_dependencies(rocktier_tests_${plugin} rocktier rocktier_rocksdb_tools)
endforeach()

# rocktier_ctest(name COMMAND command... [LABELS label...] [TIMEOUT seconds] [LONG] [SERIAL]
#                [SHARDS n] [COST n] [ENVIRONMENT name=value...])
#
# Registers a command with ctest. It runs with TEST_TMPDIR, a folder of its own in the build
# directory, which scripts/test has in memory where it can (scripts/scratch). LONG: not a part of
# "make test". SERIAL: runs alone. SHARDS: the cases of a GoogleTest executable, or of a program
# with test/tools/sharded.py, are dealt out to n entries, which run in parallel. Programs are in
# ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}, also given as ROCKTIER_BIN in the environment.
#
# scripts/test runs two tests for each CPU, for most of them wait for the disk or for time to pass.
# One with the label `stress` takes the place of two: db_stress has 32 threads. COST: the higher,
# the earlier it begins, as long as ctest does not know how long it takes.
function(rocktier_ctest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG;SERIAL" "TIMEOUT;SHARDS;COST"
    "COMMAND;LABELS;ENVIRONMENT")
  if(arg_LONG)
    list(APPEND arg_LABELS long)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)  # ten times what the slowest takes that runs alone
  endif()
  if(ROCKTIER_SANITIZER)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
    list(APPEND arg_ENVIRONMENT ROCKTIER_SLOW=5)  # for those that go by the clock
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_COST)
    set(arg_COST 0)
  endif()
  set(places 1)
  if("stress" IN_LIST arg_LABELS)
    set(places 2)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    set(entry ${name})
    set(environment ${arg_ENVIRONMENT})
    if(arg_SHARDS GREATER 1)
      set(entry ${name}.${shard})
      list(APPEND environment GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
    endif()
    set(scratch "${CMAKE_BINARY_DIR}/scratch/${entry}")
    list(APPEND environment
      "TEST_TMPDIR=${scratch}" "ROCKTIER_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
      "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
      "TSAN_OPTIONS=halt_on_error=1:suppressions=${CMAKE_SOURCE_DIR}/test/support/tsan.supp")
    add_test(NAME ${entry}
      COMMAND "${CMAKE_SOURCE_DIR}/scripts/in-scratch" "${scratch}" ${arg_COMMAND})
    set_tests_properties(${entry} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
      RUN_SERIAL "${arg_SERIAL}" PROCESSORS ${places} COST ${arg_COST}
      ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# rocktier_test(name [PLUGIN plugin] SOURCES file... [LIBS lib...] [ARGS arg...] [NO_MAIN] [LONG]
#               [options of rocktier_ctest...])
#
# A GoogleTest executable, with RocksDB's own
# gtest and test helpers and, unless NO_MAIN, with main(). LONG: built by the target rocktier_long
# only. Left out when `plugin` is not built.
function(rocktier_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MAIN;LONG" "PLUGIN"
    "SOURCES;LIBS;ARGS;LABELS;ENVIRONMENT")
  if(arg_PLUGIN AND NOT arg_PLUGIN IN_LIST rocktier_plugins)
    return()
  endif()
  if(NOT arg_NO_MAIN)
    list(APPEND arg_SOURCES "${CMAKE_SOURCE_DIR}/test/support/test_main.cc")
  endif()
  set(plugin)
  if(arg_PLUGIN AND NOT arg_LONG)
    set(plugin PLUGIN ${arg_PLUGIN})
  endif()
  rocktier_executable(${name} ${plugin} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS} testharness gtest)
  set(options ${arg_UNPARSED_ARGUMENTS})
  if(arg_LONG)
    rocktier_long(${name})
    list(APPEND options LONG)
  endif()
  rocktier_ctest(${name} COMMAND $<TARGET_FILE:${name}> ${arg_ARGS} LABELS ${arg_LABELS}
    ENVIRONMENT ${arg_ENVIRONMENT} ${options})
endfunction()

# rocktier_fuzzer(PLUGIN plugin SOURCES file...)
#
# fuzz_<plugin>, an executable with the fuzz targets of a plugin (test/fuzz). Where ROCKTIER_FUZZ is
# set, with libFuzzer (make fuzz): the plugin's sources are compiled anew with the sanitizers; those
# of RocksDB are taken as they are, for the sake of time. Elsewhere a test that runs each target on
# its seeds and on some thousand changes of them.
add_custom_target(rocktier_fuzzers)
function(rocktier_fuzzer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PLUGIN" "SOURCES")
  if(NOT arg_PLUGIN IN_LIST rocktier_plugins)
    return()
  endif()
  set(name fuzz_${arg_PLUGIN})
  set(fuzz "${CMAKE_SOURCE_DIR}/test/fuzz")
  list(APPEND arg_SOURCES "${fuzz}/target.cc" "${fuzz}/allocations.cc" "${fuzz}/checksums.cc")
  if(ROCKTIER_FUZZ)
    file(GLOB_RECURSE plugin_sources CONFIGURE_DEPENDS
      "${CMAKE_SOURCE_DIR}/plugin/${arg_PLUGIN}/*.cc")
    list(FILTER plugin_sources EXCLUDE REGEX "/tools/")
    list(APPEND arg_SOURCES "${fuzz}/libfuzzer.cc" ${plugin_sources})
  else()
    list(APPEND arg_SOURCES "${fuzz}/replay.cc")
  endif()
  rocktier_executable(${name} PLUGIN ${arg_PLUGIN} SOURCES ${arg_SOURCES})
  target_link_options(${name} PRIVATE "LINKER:--wrap=_ZN7rocksdb6crc32c6ExtendEjPKcm")
  if(ROCKTIER_FUZZ)
    set(sanitizers address,undefined)
    target_compile_options(${name} PRIVATE
      -fsanitize=fuzzer-no-link,${sanitizers} -fno-sanitize-recover=undefined)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer,${sanitizers})
    add_dependencies(rocktier_fuzzers ${name})
  else()
    rocktier_ctest(${name} COMMAND $<TARGET_FILE:${name}> LABELS fuzz ${arg_PLUGIN}
      ENVIRONMENT "ROCKTIER_FUZZ_SEEDS=${fuzz}/seeds")
  endif()
endfunction()

# rocktier_long(target): builds the target with rocktier_long only, for tests that are LONG.
add_custom_target(rocktier_long COMMENT "Built the long tests")
function(rocktier_long target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(rocktier_long ${target})
endfunction()
