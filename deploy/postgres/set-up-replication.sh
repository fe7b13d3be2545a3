#!/bin/sh
# Run once, when the leader's data directory is made: replicas may connect with the password, and from the next start
# on a commit counts when one of the others has it.
set -e
echo "host replication all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
echo "synchronous_standby_names = 'ANY 1 (db1, db2, db3)'" >>"$PGDATA/postgresql.conf"
