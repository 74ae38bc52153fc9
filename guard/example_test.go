package guard_test

import (
	"fmt"

	"crosstalk/guard"
)

func ExampleCheck() {
	text := "제주도는 날씨가 자주 바뀌기 때문에 it's a good idea to pack a light jacket 챙겨 가시는 것이 좋습니다."
	j, err := guard.Check(text, "ko")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.Verdict)
	for _, s := range j.Spans {
		fmt.Printf("%s %s: %s\n", s.Language, s.Kind, text[s.Start:s.End])
	}
	// Output:
	// wrong
	// en word: it's a good idea to pack a light jacket
}
