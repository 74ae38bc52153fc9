package main

import (
	"errors"
	"fmt"
	"io/fs"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

func suitesNewCommand() *cobra.Command {
	var instrument string
	var names []string
	for _, in := range instruments() {
		names = append(names, in.name)
	}
	c := &cobra.Command{
		Use: "new NAME", Short: "Write a commented suite to start from", Args: cobra.ExactArgs(1),
		Long: `Write NAME.yaml in the current directory: a small suite with comments, to edit.
An existing file is not overwritten.`,
		Example: "  crosstalk suites new my-suite\n  crosstalk suites new my-suite --instrument confusion",
		RunE: func(c *cobra.Command, args []string) error {
			text, err := suite.Starter(args[0], instrument)
			if err != nil {
				return err
			}
			file := args[0] + ".yaml"
			err = atomicfile.WriteNew(file, text)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s already exists: choose another name, or remove it", file)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s is a %s suite to edit. Check it: crosstalk suites check %[1]s\n", file, instrument)
			return nil
		},
	}
	instrument = names[0]
	config.Declare(c, "", []config.Flag{{Name: "instrument", To: &instrument, Choices: names,
		Help: "leakage, confusion or consistency"}})
	return c
}
