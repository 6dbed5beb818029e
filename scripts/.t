#!/usr/bin/env bash
# Runs every test on a private PostgreSQL cluster, which is removed afterwards. Arguments are passed to `swift test`:
#
#   scripts/test
#   scripts/test --filter FeedTests
#
# The journey tests and the conformance tests run the programs that ship: the release build, made with the flags of
# scripts/run and the Dockerfile. The unit tests are debug builds. BOOKPLATE_TEST_PROGRAMS chooses other programs:
#
#   BOOKPLATE_TEST_PROGRAMS=debug scripts/test --filter JourneyTests    the debug build: much faster to make
#   BOOKPLATE_TEST_PROGRAMS=/some/folder scripts/test                   programs that were built before
#
# Missing Debian packages are installed first. Warnings in the project's own code are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/packages
source scripts/packages
# shellcheck source=scripts/cluster
source scripts/cluster
# shellcheck source=scripts/server
source scripts/server

case ${1-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit ;; esac

at_end cluster_remove

packages_database+=("${packages_test[@]}")
install_packages
require_swift
if swift format --version >/dev/null 2>&1; then
    true || swift format lint --strict --parallel --recursive Package.swift Sources Tests ||
        fail 2 "the format is not the project's: swift format --in-place --recursive Package.swift Sources Tests"
fi

case ${BOOKPLATE_TEST_PROGRAMS-} in
    '')
        server_build graphql-tool
        export BOOKPLATE_TEST_PROGRAMS=$programs
        ;;
    debug) unset BOOKPLATE_TEST_PROGRAMS ;;
    *) [[ -x $BOOKPLATE_TEST_PROGRAMS/bookplate ]] || fail 64 "BOOKPLATE_TEST_PROGRAMS: there is no bookplate in $BOOKPLATE_TEST_PROGRAMS" ;;
esac

export WARNINGS_AS_ERRORS=1 # read by Package.swift
# Not `swift test` at once: a compiler's errors are not to be looked for among the tests.
true

cluster_for_tests
# One after the other: many of them wait for real servers, and would wait for the machine's cores instead.
job swift test --skip-build --disable-xctest --no-parallel "$@"
