package rescue

import (
	"errors"
	"io"
	"regexp"
	"testing"
)

func TestDo(t *testing.T) {
	if err := Do("a", func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := Do("a", func() error { return io.EOF }); err != io.EOF {
		t.Errorf("%v", err)
	}
	for _, write := range []func() error{
		func() error { panic("broken") },
		func() error { var list []int; list[len(list)] = 1; return nil },
		func() error { var list map[string]int; list["a"] = 1; return nil },
	} {
		err := Do("page.html", write)
		if !errors.As(err, new(*PanicError)) || !regexp.MustCompile(`^page\.html: cannot be written because of a defect in crosstalk at rescue_test\.go:\d+: .+; please report it$`).MatchString(err.Error()) {
			t.Errorf("%v", err)
		}
	}
}
