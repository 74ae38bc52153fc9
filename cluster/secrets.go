package cluster

import (
	"errors"
	"fmt"
	"strings"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/visible"
	"crosstalk/study"
)

// queryName matches the parameters of a URL.
var queryName = lazyregexp.New(`[?&]([^?&=\s]+)=`)

// CheckSecrets returns an error, which does not quote it, if a command, its headers, parameters or the name of the
// variable of its key have a secret: the files of a job are kept where others can read them.
func CheckSecrets(command, headers, params []string, keyVar string) error {
	const written = "it would be written into the job; expected a variable of its environment, as in "
	for _, header := range headers {
		if _, value, _ := strings.Cut(header, "="); !strings.HasPrefix(value, "$") {
			return errors.New("--header after -- has a value: " + written + "--header 'NAME=$VARIABLE'")
		}
	}
	for _, param := range params {
		name, value, _ := strings.Cut(param, "=")
		if secret := study.SecretField(name, value); secret != "" {
			return fmt.Errorf("--param after --: %s is a secret: %s--key-var NAME or --header 'NAME=$VARIABLE'", secret, written)
		}
	}
	if strings.ContainsAny(keyVar, "-.:/+= ") {
		return errors.New("--key-var after -- is not a name: " + written + "--key-var OPENAI_API_KEY")
	}
	for _, arg := range command {
		secret := visible.Message(arg) != visible.Text(arg) // a user in a URL
		for _, query := range queryName().FindAllStringSubmatch(arg, -1) {
			secret = secret || study.SecretField(query[1], "") != ""
		}
		if secret {
			return errors.New("a URL after -- has a password or a key: " + written + "--header 'NAME=$VARIABLE'")
		}
	}
	return nil
}
