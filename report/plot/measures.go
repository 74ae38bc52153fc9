package plot

import (
	"cmp"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/report"
)

// quantity is the quantity on an axis: a measure and its unit, "" for a share, which is shown in percent.
type quantity struct{ measure, unit string }

func quantityOf(e *crosstalk.Estimate) quantity { return quantity{e.Measure, e.Unit} }

func (q quantity) isShare() bool { return q.unit == "" }

func (q quantity) name() string {
	return strings.TrimPrefix(labelOf(q.measure)+", "+cmp.Or(q.unit, "%"), ", ")
}

func (q quantity) tick(v float64) string { return tick(v, q.isShare()) }

// bare is a value for people without its unit.
func (q quantity) bare(f crosstalk.Value) string { return report.Value(f, q.unit) }

func (q quantity) amount(f crosstalk.Value) string {
	if !f.Defined() {
		return "-"
	}
	return q.bare(f) + " " + cmp.Or(q.unit, "%")
}

// percent is a share for people, without its sign.
func percent(share float64) string { return report.Percent(crosstalk.Value(share)) }

// number is a value for programs: a decimal fraction, or "-".
func number(f crosstalk.Value) string { return cmp.Or(report.Number(f), "-") }

// spoken are readable names of columns, if different from their words.
var spoken = map[string]string{"top_p": "top-p"}

func words(column string) string { return cmp.Or(spoken[column], crosstalk.Words(column)) }

func labelOf(measure string) string { return instrument.Measure(measure).Label }
