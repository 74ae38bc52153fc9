package guard

import (
	"strings"
	"unicode"
)

// regional lists words that only one region of a language has, or spells so.
var regional = map[string]map[string]string{
	"en": {
		"en-GB": "apologise aubergine cancelled catalogue centre cheque colour colours defence favourite flavour grey honour kilometres labour licence litre lorry metre metres mum neighbour organisation organise organised postcode programme realise theatre travelled tyre",
		"en-US": "apologize canceled catalog center color colors defense favorite flavor gray honor kilometers labor liter meter meters mom neighbor organization organize organized realize sidewalk theater traveled",
	},
	"es": {
		"es-ES":  "aparcar aparcad coged habéis móvil ordenador podéis pulsad queréis sabéis sois tenéis vosotras vosotros vuestra vuestro zumo",
		"es-419": "boleto carro celular computadora estacionar jugo manejar platicar ustedes",
	},
	"pt": {
		"pt-BR": "aeromoça aplicativo arquivo banheiro cadastro café-da-manhã celular geladeira ônibus senha tela trem usuário você vocês xícara",
		"pt-PT": "autocarro casa-de-banho chávena comboio ecrã equipa esquadra ficheiro frigorífico palavra-passe pequeno-almoço telemóvel utilizador",
	},
}

// regionOf gives the region of each of these words.
var regionOf = func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for base, lists := range regional {
		all[base] = map[string]string{}
		for region, list := range lists {
			for w := range strings.FieldsSeq(list) {
				all[base][w] = region
			}
		}
	}
	return all
}()

// region returns the region that the prose of a text in a language points to: at least two words of it, and three times
// as many as of another. It is "" if none is clear.
func (c *check) region() string {
	lists := regional[c.want.base]
	if lists == nil {
		return ""
	}
	of := regionOf[c.want.base]
	count := map[string]int{}
	for _, b := range c.doc.Blocks {
		var plain strings.Builder
		c.plain(&plain, b)
		notInWord := func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }
		for w := range strings.FieldsFuncSeq(strings.ToLower(plain.String()), notInWord) {
			count[of[w]]++
		}
	}
	for region := range lists {
		others := 0
		for other := range lists {
			if other != region {
				others += count[other]
			}
		}
		if n := count[region]; n >= 2 && n >= 3*others {
			return region
		}
	}
	return ""
}
