package main

import (
	"fmt"
	"slices"

	"crosstalk/cluster"
	"crosstalk/internal/config"
	"crosstalk/internal/shell"

	"github.com/spf13/cobra"
)

// addJob adds the flags that schedulers have in common.
func addJob(c *cobra.Command, j *cluster.Job, submit *bool) {
	config.Declare(c, "", []config.Flag{
		{Name: "shards", To: &j.Shards, Help: "number of shards (required)"},
		{Name: "parallel", To: &j.Parallel, Help: "maximum number of shards at a time (default: no limit)"},
		{Name: "submit", To: submit, Reach: config.Expense, Help: "submit the jobs too"},
	})
	c.Flags().SetInterspersed(false) // what follows the command is its own, even without --
}

// readCommand reads the command after --, whose flags must be ones that it has.
func readCommand(c *cobra.Command, args []string, j *cluster.Job) error {
	if len(args) == 0 {
		return usagef("expected the command to run, as in -- run leakage --model openai:gpt-4o-mini --out runs/sweep")
	}
	of, rest, err := rootCommand().Find(args)
	if err != nil {
		return &usageError{err}
	}
	if parent := of.Parent(); parent == nil || !slices.Contains([]string{"run", "score"}, parent.Name()) {
		return usagef("'%s' cannot be divided into shards; expected run or score and an instrument after --",
			of.CommandPath())
	}
	if err := of.ParseFlags(rest); err != nil {
		return usagef("%s: %w", of.CommandPath(), err)
	}
	if err := of.ValidateArgs(of.Flags().Args()); err != nil {
		return usagef("%s: %w", of.CommandPath(), err)
	}
	if of.Flags().Changed("shard") {
		return usagef("--shard after --: the scheduler says which shard a task is; remove it")
	}
	if of.Flags().Changed("dry-run") {
		return usagef("--dry-run after --: shards would measure nothing; " +
			"run the command by itself to see what it would send")
	}
	headers, _ := of.Flags().GetStringArray("header") // none if the command has no such flag
	params, _ := of.Flags().GetStringArray("param")
	keyVar, _ := of.Flags().GetString("key-var")
	if err := cluster.CheckSecrets(args, headers, params, keyVar); err != nil {
		return &usageError{err}
	}
	if j.Out, _ = of.Flags().GetString("out"); j.Out == "" {
		return usagef("--out is missing after --: expected a directory for the shards, as in --out runs/sweep")
	}
	j.Command = args
	return nil
}

func submitSlurmCommand() *cobra.Command {
	var s cluster.Slurm
	var submit bool
	c := command("submit slurm", nil, func(c *cobra.Command, args []string) error {
		if err := readCommand(c, args, &s.Job); err != nil {
			return err
		}
		w := c.OutOrStdout()
		if submit {
			array, merge, err := s.Submit()
			if err == nil {
				fmt.Fprintf(w, "Submitted job %s, %d shards, and job %s, which merges them into %s.\n"+
					"Watch them with squeue; logs are in %s.\n", array, s.Shards, merge, s.Merged(), s.Logs())
			}
			return err
		}
		array, merge, err := s.Write()
		if err == nil {
			fmt.Fprintf(w, "Wrote %s and %s. To submit them:\n  job=$(sbatch --parsable %s)\n"+
				"  sbatch --dependency=afterany:$job %s\n", array, merge, shell.Quote(array), shell.Quote(merge))
		}
		return err
	})
	addJob(c, &s.Job, &submit)
	config.Declare(c, "", []config.Flag{
		{Name: "sbatch", To: &s.Options, Whole: true, Reach: config.Program,
			Help: "an option of sbatch for both jobs, such as --partition=long; may be repeated"},
	})
	return c
}

func submitKubernetesCommand() *cobra.Command {
	var k cluster.Kubernetes
	var submit bool
	var limits, secrets []string
	c := command("submit kubernetes", nil, func(c *cobra.Command, args []string) error {
		if err := readCommand(c, args, &k.Job); err != nil {
			return err
		}
		if err := k.Set(limits, secrets); err != nil {
			return err
		}
		if submit {
			said, err := k.Apply()
			fmt.Fprint(c.OutOrStdout(), said)
			return err
		}
		manifests, err := k.Manifests()
		c.OutOrStdout().Write(manifests)
		return err
	})
	addJob(c, &k.Job, &submit)
	config.Declare(c, "", []config.Flag{
		{Name: "image", To: &k.Image, Reach: config.Program, Help: "container image with crosstalk (required)"},
		{Name: "claim", To: &k.Claim, Reach: config.Nothing,
			Help: "a PersistentVolumeClaim that all pods can mount at the same time (ReadWriteMany)"},
		{Name: "store", To: &k.Store, Reach: config.Address,
			Help: "a folder of object storage, as rclone names it, such as s3:bucket/sweep"},
		{Name: "secret", To: &secrets, Reach: config.Credential,
			Help: "a Secret whose entries become environment variables of the containers that ask; rclone=NAME: of rclone"},
		{Name: "limits", To: &limits, Reach: config.Nothing,
			Help: "what a shard and the merge request, and their limits (default cpu=" + cluster.DefaultCPU + ",memory=" +
				cluster.DefaultMemory + ")"},
		{Name: "pod", To: &k.Pod, Whole: true, Reach: config.Program,
			Help: "a field of all pods, such as 'tolerations=[{operator: Exists}]'; may be repeated"},
	})
	return c
}
