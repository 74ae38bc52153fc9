package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk/internal/visible"
	"crosstalk/report"
)

// order is the column by which a table is sorted: NAME, or -NAME for descending.
type order struct {
	column string
	down   bool
}

func orderOf(value string) order {
	name, down := strings.CutPrefix(value, "-")
	return order{name, down}
}

func (o order) turn(c int) int {
	if o.down {
		return -c
	}
	return c
}

// sortable is the header of a column by which a table can be sorted.
type sortable struct {
	Title, To string
	Sorted    string // "ascending", "descending" or ""
	Words     bool   // the column contains words
}

// header is the header of a column: a link to the same page sorted by it.
func (o order) header(name, title string, at *url.URL, parameter, fragment string) sortable {
	s, value := sortable{Title: title}, name
	if name == o.column {
		s.Sorted = "ascending"
		if o.down {
			s.Sorted = "descending"
		} else {
			value = "-" + name
		}
	}
	query := at.Query()
	query.Set(parameter, value)
	s.To = (&url.URL{Path: at.Path, RawQuery: query.Encode(), Fragment: fragment}).String()
	return s
}

// table is a table of figures that can be sorted.
type table struct {
	report.Table
	ID      string
	Columns []sortable
	Open    bool
}

// mostOpenRows is the maximum number of rows of a table that is open at first.
const mostOpenRows = 30

// tables are the tables of a page, sorted according to its URL.
func tables(list []report.Table, at *url.URL) (sorted []table) {
	for i, t := range list {
		id := "table-" + strconv.Itoa(i+1)
		o := orderOf(at.Query().Get(id))
		column, err := strconv.Atoi(o.column)
		if err == nil && column >= 0 && column < len(t.Header) {
			t.Rows = slices.Clone(t.Rows)
			slices.SortStableFunc(t.Rows, func(a, b []string) int { return compareCells(a[column], b[column], o) })
		}
		s := table{Table: t, ID: id, Open: len(t.Rows) <= mostOpenRows || o.column != ""}
		for k, title := range t.Header {
			h := o.header(strconv.Itoa(k), cmp.Or(title, "group"), at, id, id)
			h.Words = k < t.Left
			s.Columns = append(s.Columns, h)
		}
		sorted = append(sorted, s)
	}
	return sorted
}

// compareCells orders cells by their first number if both have one. Undefined cells come last in both directions.
func compareCells(a, b string, o order) int {
	x, isX := cellNumber(a)
	y, isY := cellNumber(b)
	switch {
	case isX && isY:
		return o.turn(cmp.Compare(x, y))
	case a == "-" || b == "-":
		return cmp.Compare(one(a == "-"), one(b == "-"))
	}
	return o.turn(strings.Compare(a, b))
}

func cellNumber(s string) (float64, bool) {
	s = strings.TrimLeft(s, "[(<+~ ")
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.-e", r) })
	if end >= 0 {
		s = s[:end]
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// count writes a number with thin spaces: 1 234 567.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// number is a number with its noun.
func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// ago is a time relative to now, or the date if it is more than a day ago.
func ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := time.Since(t)
	switch {
	case d < 2*time.Second:
		return "now"
	case d < 24*time.Hour:
		return duration(d) + " ago"
	}
	return t.Local().Format("2 Jan 2006 15:04")
}

// duration rounds to seconds, minutes or tenths of an hour.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// size is a number of bytes.
func size(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// joined joins the parts that are not empty.
func joined(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, " · ")
}

// brief is the beginning of a text on one line, at most 240 characters.
func brief(text string) string {
	const most = 240
	runes := []rune(text[:min(len(text), 4*most)])
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return visible.Line(string(runes))
}
