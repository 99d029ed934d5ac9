#!/usr/bin/env bash
# Download the authors' file to MUSICRS_DATA, and check that it is the one that the tests know.
set -euo pipefail
mkdir -p "$(dirname "$MUSICRS_DATA")"
curl --fail --silent --show-error --location --retry 5 --output "$MUSICRS_DATA" \
    "https://huggingface.co/datasets/rohan2810/MusiCRS/resolve/$MUSICRS_REVISION/$MUSICRS_FILE"
echo "$MUSICRS_SHA256  $MUSICRS_DATA" | sha256sum --check --strict
