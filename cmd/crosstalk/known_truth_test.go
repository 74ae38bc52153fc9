package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/web"
)

// chats writes 500 conversations in six languages: 461 are right, 19 are in English, 14 have an English sentence, and 6
// are in simplified characters. It returns the ids of the 39.
func chats(t *testing.T, file string) (wrong []string) {
	t.Helper()
	texts := [][3]string{
		{"de", "Wann kommt meine Bestellung %d bei mir an?", "Ihre Bestellung %d wird am Freitagvormittag geliefert."},
		{"fr", "Quand ma commande %d sera-t-elle livrée ?", "Votre commande %d sera livrée vendredi matin chez vous."},
		{"es", "¿Cuándo llega mi pedido %d a mi casa?", "Su pedido %d llegará a su casa el viernes por la mañana."},
		{"ja", "注文番号%dの商品はいつ届きますか。", "ご注文番号%dの商品は金曜日の午前中にお届けします。"},
		{"ko", "주문 번호 %d 상품은 언제 도착하나요?", "주문 번호 %d 상품은 금요일 오전에 도착할 예정입니다."},
		{"zh-TW", "我的訂單%d什麼時候會送到？", "您的訂單%d將於星期五上午送達，請留意簡訊通知。"},
	}
	var b strings.Builder
	english, mixed, simplified := 19, 14, 6
	for i := range 500 {
		id, of := fmt.Sprintf("c%d", i), texts[i%6]
		number := 1000 + i
		answer := fmt.Sprintf(of[2], number)
		switch {
		case i%7 == 3 && english > 0:
			english--
			answer = fmt.Sprintf("Your order %d will be delivered on Friday morning.", number)
		case i%7 == 5 && mixed > 0:
			mixed--
			answer += "\n\nPlease let me know if you need anything else."
		case of[0] == "zh-TW" && simplified > 0:
			simplified--
			answer = fmt.Sprintf("您的订单%d将于星期五上午送达，请留意短信通知。", number)
		default:
			id = ""
		}
		if id != "" {
			wrong = append(wrong, id)
		}
		line, err := json.Marshal(map[string]any{"id": fmt.Sprintf("c%d", i), "locale": of[0], "messages": []map[string]string{
			{"role": "user", "content": fmt.Sprintf(of[1], number)}, {"role": "assistant", "content": answer}}})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return wrong
}

// Of chats whose truth is known, the terminal, the list, the page, the gate and check count the same answers.
func TestKnownTruth(t *testing.T) {
	dir := t.TempDir()
	file, run := filepath.Join(dir, "chats.jsonl"), filepath.Join(dir, "runs", "week-2026-11-24")
	wrong := chats(t, file)
	if len(wrong) != 39 {
		t.Fatalf("%d are wrong", len(wrong))
	}
	call := func(want int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := execute(args, &stdout, &stderr); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, &stdout, &stderr)
		}
		return stdout.String()
	}
	ids := func(list []string) (short []string) {
		for _, id := range list {
			short = append(short, strings.TrimSuffix(id[strings.LastIndex(id, "/c")+1:], "/1"))
		}
		return short
	}
	for _, expect := range [][]string{{"--language", "user"}, nil} {
		out := call(0, append([]string{"score", "confusion", file, "-m", "prod", "-q"}, expect...)...)
		if !strings.Contains(out, "39 of 500 answers are wholly or partly in another language: 7.8 % (") {
			t.Errorf("%v: %s", expect, out)
		}
	}
	call(0, "score", "confusion", file, "--language", "user", "-m", "prod", "-q", "--out", run)
	rows, err := csv.NewReader(strings.NewReader(call(0, "table", run, "--faults", "--format", "csv"))).ReadAll()
	if err != nil || len(rows) != 40 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	var listed []string
	for _, row := range rows[1:] {
		listed = append(listed, strings.TrimSuffix(row[0], "/1"))
	}
	if got := ids(listed); !slices.Equal(got, wrong) {
		t.Errorf("the list has\n%v, want\n%v", got, wrong)
	}
	call(1, "gate", run, "--require", "faults<=5%")
	call(0, "gate", run, "--require", "faults<=7.8%", "--point")
	call(1, "gate", run, "--require", "faults<=7.7%", "--point")

	for _, language := range [][]string{{"--language", "user"}, nil} {
		var found []string
		for line := range strings.Lines(call(0, append([]string{"check", file, "-q"}, language...)...)) {
			var v struct{ ID, Verdict, Expected string }
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if v.Verdict == "wrong" {
				found = append(found, strings.TrimSuffix(v.ID, "/1"))
			}
		}
		if !slices.Equal(found, wrong) {
			t.Errorf("%v: check finds\n%v, want\n%v", language, found, wrong)
		}
	}
	server, err := web.New(filepath.Join(dir, "runs"), web.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	get := func(path string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		server.ServeHTTP(w, r)
		return w.Body.String()
	}
	_, rest, _ := strings.Cut(get("/"), `href="/runs/`)
	id, _, _ := strings.Cut(rest, `"`)
	if page := get("/runs/" + id); !strings.Contains(page, "39 of 500 answers are wholly or partly in another language") {
		t.Errorf("the page of %q says\n%.3000s", id, page)
	}
	for range 100 { // the index is built
		if page := get("/runs/" + id + "/answers"); strings.Contains(page, `any fault</bdi> <span class="n">39</span>`) {
			return
		}
	}
	t.Errorf("no filter for 39 answers with any fault in\n%.3000s", get("/runs/"+id+"/answers"))
}
