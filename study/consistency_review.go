package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/review"
	"crosstalk/model/reference"
	"crosstalk/run"

	"github.com/gofrs/flock"
)

// ReviewError reports that rewritten instructions must be reviewed before they are used.
type ReviewError struct {
	Waiting int
	File    string // the file in which to approve them
}

func (e *ReviewError) Error() string {
	return fmt.Sprintf("%d rewritten instructions need a review: in %s, edit text and words, set approved to true, "+
		"and run the same command again; or use --accept-rewrites", e.Waiting, e.File)
}

// Waiting returns why a run stopped to wait for people: a *ReviewError if it has rewritten instructions that are not
// approved, otherwise nil.
func Waiting(path string) error {
	file, waiting := filepath.Join(path, run.InstructionsFile), 0
	list, err := review.ReadRunInstructions(file)
	for _, in := range list {
		if !in.Approved {
			waiting++
		}
	}
	if err != nil || waiting == 0 {
		return err
	}
	return &ReviewError{waiting, file}
}

// reviews lets models rewrite instructions and people review them before they are used.
type reviews struct {
	*Study
	accept   bool
	imported []review.Instruction
	set      []func(Condition) *consistency.Instrument // for each protocol
	asked    map[string]bool                           // models
	made     []review.Instruction                      // by these models
}

// accepts reports whether a model's instructions are used without a review. A reference model needs no review.
func (v *reviews) accepts(c Condition) bool {
	return v.accept || c.Model.Provider == reference.Provider
}

func modelName(c Condition) string {
	name := c.Model.String()
	if base := c.Name["base_url"]; base != "" {
		name += " " + base
	}
	if c.Name["api"] != "" {
		name += " " + c.Name["api"]
	}
	return name
}

func (v *reviews) tasks(c Condition) []crosstalk.Task {
	tasks := slices.Clone(v.Suite.Tasks)
	for i := range tasks {
		tasks[i].Instructions = maps.Clone(tasks[i].Instructions)
		for _, in := range v.made {
			if in.Model == modelName(c) && in.Task == tasks[i].Name {
				tasks[i].Instructions[string(in.Sense)] = in.Instruction()
			}
		}
	}
	return tasks
}

// prepare lets models rewrite the instructions, writes them into the run, and returns a ReviewError until they are
// approved.
//
// All shards of a run share the file in its directory: the first shard lets models rewrite, the others wait and copy.
func (v *reviews) prepare(ctx context.Context, m *Measurement) (failed error) {
	if v.shard.IsZero() {
		return v.prepareIn(ctx, m, m.Dir.Path)
	}
	all := filepath.Dir(m.Dir.Path)
	lock := flock.New(filepath.Join(all, run.InstructionsFile+".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("%s: %w", lock.Path(), cmp.Or(context.Cause(ctx), err))
	}
	defer func() { failed = errors.Join(failed, lock.Close()) }()
	if err := v.prepareIn(ctx, m, all); err != nil {
		return err
	}
	list, err := review.ReadRunInstructions(filepath.Join(all, run.InstructionsFile))
	if err != nil {
		return err
	}
	return review.WriteInstructions(filepath.Join(m.Dir.Path, run.InstructionsFile), list)
}

// prepareIn prepares the file in a directory. Instructions in a shared file are not requested again; new ones are
// saved to it at once.
func (v *reviews) prepareIn(ctx context.Context, m *Measurement, dir string) error {
	path := filepath.Join(dir, run.InstructionsFile)
	before, err := review.ReadRunInstructions(path)
	if err != nil {
		return err
	}
	save := func(review.Instruction) error { return nil }
	if !v.shard.IsZero() {
		known := slices.DeleteFunc(slices.Clone(before), func(in review.Instruction) bool { return !in.Complete() })
		v.imported = append(slices.Clip(v.imported), known...)
		save = func(in review.Instruction) error {
			if !in.Complete() {
				return nil
			}
			known = append(known, in)
			return review.WriteInstructions(path, known)
		}
	}
	var list, waiting []review.Instruction
	for k, p := range v.Protocols {
		for _, c := range p.Conditions {
			model := modelName(c)
			if v.asked[model] {
				continue
			}
			v.asked[model] = true
			of, err := v.ofModel(ctx, v.set[k](c), m.askers.of(p, c), model, before, save)
			if err != nil {
				return err
			}
			for _, in := range of {
				list = append(list, in)
				if !in.Approved && !v.accepts(c) {
					waiting = append(waiting, in)
				}
			}
		}
	}
	for _, old := range before { // keep senses that are not part of this run
		if !slices.ContainsFunc(list, func(in review.Instruction) bool {
			return in.Model == old.Model && in.Task == old.Task && in.Sense == old.Sense
		}) {
			list = append(list, old)
		}
	}
	if err := review.WriteInstructions(path, list); err != nil {
		return err
	}
	if len(waiting) > 0 {
		return &ReviewError{len(waiting), path}
	}
	for _, in := range list {
		t := slices.IndexFunc(v.Suite.Tasks, func(t crosstalk.Task) bool { return t.Name == in.Task })
		if t < 0 || !v.asked[in.Model] {
			continue
		}
		if err := in.Check(v.Suite.Tasks[t]); err != nil {
			return fmt.Errorf("%w: edit it in %s", err, path)
		}
		v.made = append(v.made, in)
	}
	return nil
}

// ask sends the requests of prepare for a condition, and keeps nothing.
func (v *reviews) ask(ctx context.Context, protocol int, c Condition, asker crosstalk.Asker) error {
	_, err := v.ofModel(ctx, v.set[protocol](c), asker, modelName(c), nil, func(review.Instruction) error { return nil })
	return err
}

// ofModel returns a model's rewritten instructions, after applying earlier reviews. save saves each new one.
func (v *reviews) ofModel(ctx context.Context, in *consistency.Instrument, asker crosstalk.Asker, model string,
	before []review.Instruction, save func(review.Instruction) error) (list []review.Instruction, err error) {
	var senses []consistency.Sense
	for _, form := range in.Forms() {
		if s := form.Instruction; s.Rewritten() && !slices.Contains(senses, s) {
			senses = append(senses, s)
		}
	}
	for _, task := range in.Tasks {
		for _, s := range senses {
			if made, ok := review.Find(v.imported, model, task.Name, s); ok {
				made.Model = model
				list = append(list, made)
				continue
			}
			rewritten, err := in.RewriteInstruction(ctx, asker, task, s)
			if err != nil {
				return nil, err
			}
			made := review.Merge(before, model, rewritten)
			if err := save(made); err != nil {
				return nil, err
			}
			list = append(list, made)
		}
	}
	return list, nil
}
