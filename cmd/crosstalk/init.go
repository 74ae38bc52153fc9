package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

// schemaFile is what init calls the schema that it writes beside a file.
const schemaFile = "crosstalk.schema.json"

// liveKeys are those that a new file has not commented out: what one looks for
// first, and what a figure depends on most.
var liveKeys = []string{"protocol", "similarity", "suite"}

func initCommand() *cobra.Command {
	var force, stdout, schema bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a commented " + standardConfig,
		Long: `Write a commented ` + standardConfig + ` (or the file that --config names): every flag of
every command is a key there, with its default. As it is written it changes
nothing. Beside it stands ` + schemaFile + `, by which editors complete and
check it.`,
		Example: `  crosstalk init
  crosstalk init --config sweep.yaml
  crosstalk init --schema`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{config.None: "it writes the file"},
		RunE: func(c *cobra.Command, _ []string) error {
			if schema {
				_, err := c.OutOrStdout().Write(configSchema(c.Root()))
				return err
			}
			if stdout {
				_, err := c.OutOrStdout().Write(newConfig(c.Root()))
				return err
			}
			name, err := c.Flags().GetString(config.Flag)
			if err != nil {
				return err
			}
			return writeConfig(c, cmp.Or(name, standardConfig), force)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if there is one")
	c.Flags().BoolVar(&stdout, "stdout", false, "print the file instead")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema instead")
	c.MarkFlagsMutuallyExclusive("force", "stdout", "schema")
	c.Flags().SortFlags = false
	return c
}

// writeConfig writes a new file and its schema.
func writeConfig(c *cobra.Command, name string, force bool) error {
	mode := os.O_EXCL
	if force {
		mode = os.O_TRUNC
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|mode, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: overwrite it with --force, or see with --stdout what would be written", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(newConfig(c.Root()))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	schema := filepath.Join(filepath.Dir(name), schemaFile)
	if err := os.WriteFile(schema, configSchema(c.Root()), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s holds every setting, and %s lets editors check it.\n", name, schema)
	return nil
}

func configSchema(root *cobra.Command) []byte {
	return config.Schema(root, standardConfig, "Settings of crosstalk: a section for each command, a key for each flag. Made by crosstalk init --schema.")
}

// newConfig is the file that init writes.
func newConfig(root *cobra.Command) []byte {
	return append([]byte(`# yaml-language-server: $schema=`+schemaFile+`

# Settings of crosstalk, read where it is started. A key is a flag's name. It
# stands under its command (run: leakage: ...), under a group of commands, or
# here at the top, for all commands that have the flag; what stands further in
# wins, and a flag on the command line wins over all. Paths are as on the command
# line. API keys stay in the environment. Remove a # to set a key.

`), config.Template(root, liveKeys)...)
}
