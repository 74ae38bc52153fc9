package main

import (
	"errors"
	"fmt"

	"crosstalk"
	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

// standardConfig is read if --config names no file.
const standardConfig = "crosstalk.yaml"

// configure lets a file set the flags of root and the commands below it. No
// other command may have a PersistentPreRun, which would hide this one.
func configure(root *cobra.Command) {
	root.PersistentFlags().String(config.FileFlag, "",
		`a file of settings with a key for each flag (default: `+standardConfig+` if it exists; "" for none)`)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		silent := quiet(c)
		applied, err := config.Load(c, standardConfig, insteadOf)
		if err != nil {
			return err
		}
		if err := config.Check(c.Flags()); err != nil {
			return applied.Explain(asFlag(err))
		}
		if !applied.Found { // a file that was only found cannot hide itself
			silent = quiet(c)
		}
		if notice := applied.String(); notice != "" && !silent {
			fmt.Fprintln(c.ErrOrStderr(), notice)
		}
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				err := run(c, args)
				if errors.As(err, new(*exitError)) { // caused by the result, not by a setting
					return err
				}
				return applied.Explain(asFlag(err))
			}
		}
		return nil
	}
}

// asFlag writes -- before an error about an option, which is a flag here.
func asFlag(err error) error {
	if option := new(crosstalk.OptionError); errors.As(err, &option) && err.Error() == option.Error() {
		return fmt.Errorf("--%w", err)
	}
	return err
}
