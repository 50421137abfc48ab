#!/bin/bash
# Every fuzzer, on its corpus (a second of search when it was built by clang).
log=$(scripts/fuzz "${BUILD:-build}" 1 2>&1)
status=$?
echo 1..1
if [ $status -eq 0 ]; then
	echo "ok 1 - all inputs of tests/fuzz/corpus"
else
	echo "not ok 1 - all inputs of tests/fuzz/corpus"
fi
while IFS= read -r line; do
	echo "# $line"
done <<<"$log"
