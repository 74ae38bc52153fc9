package recorded_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/recorded"
)

// Read the answers of a file, here a table. Chat logs, and logs of other programs, are read alike.
func ExampleReading_Confusion() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "answers.csv")
	const text = "language,prompt,completion\nko,안녕?,안녕하세요!\nde,Wie geht's?,I am fine.\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	for answer, err := range (recorded.Reading{}).Confusion(file) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Item.Prompt.Language, answer.Answer.Text)
	}
	// Output:
	// ko 안녕하세요!
	// de I am fine.
}
