package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"crosstalk"
	kinds "crosstalk/instrument"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/internal/ordered"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/study/similarities"
	"crosstalk/suite"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configure lets a file set the flags of root and the commands below it. No other command may have a PersistentPreRun:
// it would replace this one.
func configure(root *cobra.Command) {
	root.PersistentFlags().String(config.FileFlag, "",
		"a YAML `file` whose keys are flags of the command (docs/config.md)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := config.Load(c, insteadOf); err != nil {
			return err
		}
		if err := config.Check(c.Flags()); err != nil {
			return asFlag(err)
		}
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, args []string) error { return asFlag(run(c, args)) }
		}
		return nil
	}
}

// asFlag writes -- before the name in an error about an option, which is a flag here.
func asFlag(err error) error {
	option := new(crosstalk.OptionError)
	if !errors.As(err, &option) || err.Error() != option.Error() {
		return err
	}
	return fmt.Errorf("--%w", err)
}

func initCommand() *cobra.Command {
	return command("init", cobra.RangeArgs(1, 2), func(c *cobra.Command, args []string) error {
		kind := instruments()[0].name
		if len(args) > 1 {
			kind = args[1]
		}
		return newSuite(c, args[0], kind)
	})
}

func newSuite(c *cobra.Command, name, kind string) error {
	names := ordered.Distinct(instruments(), func(in instrument) string { return in.name })
	if _, err := crosstalk.Chosen("instrument", kind, names); err != nil {
		return err
	}
	text, err := suite.Starter(name, kind)
	if err != nil {
		return err
	}
	file := name + ".yaml"
	err = atomicfile.WriteNew(file, text)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: choose another name, or remove it", file)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s is a %s suite to edit. Check it: crosstalk suites %[1]s --check\n", file, kind)
	return nil
}

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
	c.ValidArgs = shells
	return c
}

// completeBelow makes shells complete the arguments and flag values of c and the commands below it. Cobra keeps
// completions forever, so call it only in a process that a shell started for completion.
func completeBelow(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := completionOf(f); complete != nil {
			if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // it already has one
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

// completionOf completes a flag's values; nil: nothing to complete, or files.
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
		names = append(names, "reference:")
	case "runs":
		return completeRuns
	default:
		return nil
	}
	return config.Complete(f, names, d)
}

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
