#!/usr/bin/env bash
# The protected resource: a table in PostgreSQL that takes writes of the newest term only.
#
#   ledger.sh TOKEN HOLDER [REMAINING_MS]     writes once with that token; code 3 when it was refused
set -euo pipefail

# Quoted by psql, as text that SQL can't mistake. The check and the write are one transaction.
if ! said=$(psql "$DATABASE_URL" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=VERBOSITY=verbose \
  --set=token="$1" --set=holder="$2" --set=remaining="${3:-}" 2>&1 >/dev/null <<'SQL'
BEGIN;
SELECT tenure.fence('ledger', :'token'::bigint, :'holder', nullif(:'remaining', '')::integer);
INSERT INTO payment (token, holder) VALUES (:'token'::bigint, :'holder');
COMMIT;
SQL
); then
  if grep -q 'ERROR:  TN409' <<<"$said"; then
    echo "refused: $(sed -n 's/^.*ERROR:  TN409: //p' <<<"$said")"
    exit 3
  fi
  echo "$said" >&2
  exit 1
fi
echo "wrote with token $1"
