package suite

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"

	"crosstalk/suite/datasets"
)

// importSmilga reads the workbooks of Smilga (2025): the prompts about colours, and those of Gonen et al. The column
// dataset has Smilga's names of the two, which are also in the items' ids, because both count their rows from 0.
func importSmilga(dir string) (*Suite, error) {
	all := &Suite{Instrument: "leakage", Version: 1, Language: "en"}
	for _, part := range []struct{ dataset, file string }{
		{"color", "color_prompts_qwen_3_instr.xlsx"},
		{"initial", "initial_prompts_qwen_3_instr.xlsx"},
	} {
		s, err := fromRecorded(filepath.Join(dir, part.file))
		if err != nil {
			return nil, err
		}
		all.Prefix = s.Prefix // none: the prompts begin with their instruction
		for _, item := range s.Items.All() {
			item.ID, item.Labels = part.dataset+"/"+item.ID, maps.Clone(item.Labels)
			item.Labels["dataset"], item.Labels["language"] = part.dataset, all.Language
			all.Items.Add(item)
		}
		for _, row := range s.Unusable {
			all.Unusable = append(all.Unusable, part.file+": "+row)
		}
	}
	return all, nil
}

// PulledDir returns the folder with the files of a data set that was fetched. If it was not fetched completely, the
// error is a *datasets.MissingError that names the command.
func PulledDir(name string) (string, error) {
	s, ok := datasets.Named(datasets.Suite, name)
	if !ok {
		return "", fmt.Errorf("unknown data set %q (see crosstalk suites)", name)
	}
	return s.Find()
}

func loadPulled(from datasets.Source) (*Suite, error) {
	dir, err := from.Find()
	if err != nil {
		return nil, err
	}
	var s *Suite
	switch from.Name {
	case "gonen-2024", "lcb":
		s, err = Load(filepath.Join(dir, from.Files[0].Name))
	case "smilga-2025":
		s, err = importSmilga(dir)
	default:
		text, _ := data.ReadFile(path.Join("tasks", from.Name+".yaml")) // each of the others has its task
		s, err = Parse(from.Name+".yaml", text)
	}
	if err != nil {
		return nil, err
	}
	s.Name, s.License, s.Description = from.Name, from.License, cmp.Or(s.Description, from.What)
	return s, nil
}
