#!/usr/bin/env bash
# Merges the shards, when all tasks of the job array have ended.
#SBATCH --job-name=a-merge
#SBATCH --output="/home/me/my project/runs/a/logs/merge_%j.txt"
#SBATCH --mem=4G

cd '/home/me/my project' || exit
exec /opt/crosstalk merge runs/a --out runs/a-merged
