package boolq

import "testing"

func TestQuestion(t *testing.T) {
	for _, c := range [][3]string{
		{"is the NATO base open", "en", "Is the nato base open?"},
		{" does it rain? ", "en", "Does it rain?"},
		{"灯亮吗", "zh", "灯亮吗？"},
		{"灯亮吗？", "zh", "灯亮吗？"},
		{"ist ÄPFEL richtig", "de", "Ist äpfel richtig?"},
		{"élan", "fr", "Élan?"},
		{" ", "en", ""},
	} {
		if got := Question(c[0], c[1]); got != c[2] {
			t.Errorf("%q: %q, want %q", c[0], got, c[2])
		}
	}
}
