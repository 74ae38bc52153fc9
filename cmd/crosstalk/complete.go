package main

import (
	"os"
	"path/filepath"
	"strings"

	"crosstalk"
	kinds "crosstalk/instrument"
	"crosstalk/internal/config"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/study/similarities"
	"crosstalk/suite"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionCommand prints scripts for shells.
func completionCommand() *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	c := command("completion", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		root, w := c.Root(), c.OutOrStdout()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(w, true)
		case "fish":
			return root.GenFishCompletion(w, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(w)
		case "zsh":
			return root.GenZshCompletion(w)
		}
		_, err := crosstalk.Chosen("shell", args[0], shells)
		return err
	})
	c.ValidArgs, c.Annotations = shells, map[string]string{config.None: ""}
	return c
}

// completeBelow makes shells complete the arguments and the values of the flags of c and the commands below it. Cobra
// keeps what it is given for good, so this is only for a process that a shell asks.
func completeBelow(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := completionOf(f); complete != nil {
			if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // it has one already
			}
		}
	})
	if strings.Contains(c.Use, " RUN") {
		c.ValidArgsFunction = completeRuns
	}
	for _, sub := range c.Commands() {
		completeBelow(sub)
	}
}

// completionOf completes a flag's values; nil: there is nothing to complete, or files.
func completionOf(f *pflag.Flag) cobra.CompletionFunc {
	if choices := config.ChoicesOf(f); choices != nil {
		return config.Complete(f, choices, cobra.ShellCompDirectiveNoFileComp)
	}
	var names []string
	d := cobra.ShellCompDirectiveNoSpace
	switch config.ValuesOf(f) {
	case "suites":
		names, d = suite.Names(), cobra.ShellCompDirectiveDefault
	case "similarities":
		names = similarities.Names()
	case "measures":
		names, d = measures(), cobra.ShellCompDirectiveNoFileComp
	case "models":
		for _, p := range model.Presets() {
			names = append(names, p.Name+":")
		}
		names = append(names, "reference:", "replay:")
	case "runs":
		return completeRuns
	default:
		return nil
	}
	return config.Complete(f, names, d)
}

// measures returns the measures of all instruments.
func measures() (keys []string) {
	for _, kind := range kinds.Kinds() {
		for _, m := range kind.Measures {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

// completeRuns completes the path of a run: with run directories and other directories, or those below runs.
func completeRuns(_ *cobra.Command, _ []string, typed string) (list []string, d cobra.ShellCompDirective) {
	if typed == "" {
		typed = "runs" + string(filepath.Separator)
	}
	found, err := filepath.Glob(typed + "*")
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	d = cobra.ShellCompDirectiveNoFileComp
	for _, path := range found {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		if _, err := run.ReadManifest(path); err != nil {
			path += string(filepath.Separator)
			d |= cobra.ShellCompDirectiveNoSpace
		}
		list = append(list, path)
	}
	return list, d
}
