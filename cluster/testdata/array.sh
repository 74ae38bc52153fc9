#!/usr/bin/env bash
# Measures a shard of 3 in each task of a job array.
#SBATCH --job-name=a
#SBATCH --array=1-3%2
#SBATCH --output="/home/me/my project/runs/a/logs/%A_%a.txt"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --mem=4G

cd '/home/me/my project' || exit

# A task that is stopped saves the requests in flight, and the next one resumes.
# A minute before the time limit comes USR1: this task goes back to the queue.
# TERM comes from scancel, and from a preemption, after which Slurm requeues.
caught='' again=''
trap 'caught=yes again=yes; kill -TERM $task' USR1
trap 'caught=yes; kill -TERM $task' TERM

/opt/crosstalk run leakage --out runs/a --shard auto &
task=$!
while wait $task; code=$?; [ "$caught" ]; do caught=; done # a signal ends wait, not the task
if [ "$again" ] && [ $code != 0 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit $code
