#!/bin/sh
# Run once, when the leader's data directory is made: replicas may connect with the password.
set -e
echo "host replication all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
