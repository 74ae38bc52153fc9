package langgroup

import "strings"

// families are the families of base languages, by ISO 639 code. They are those
// that are widely accepted: Altaic and Nilo-Saharan are not, so their branches
// are families here. A creole counts as its lexifier's family, as in Glottolog.
// A language without relatives is a family alone.
var families = func() map[string]string {
	of := map[string]string{}
	for family, codes := range familyCodes {
		for _, code := range strings.Fields(codes) {
			of[code] = family
		}
	}
	return of
}()

// familyCodes has all languages of ISO 639-1 and of fastText's lid.176, and
// others that are common in multilingual data sets.
var familyCodes = map[string]string{
	IndoEuropean: `
		en de nl af fy frr nds li vls sco lb bar pfl gsw als yi sv da no nb nn is fo
		la fr es pt it ro ca gl oc ast an co sc scn nap vec lmo pms egl rgn lij fur lld rm wa mwl lad ext
		frp ht cbk pap mo tpi bi srn jam pcm kea mfe
		ru uk be pl cs sk sl sh sr hr bs bg mk cu rue hsb dsb szl csb cnr
		lt lv ltg lvs sgs prg
		ga gd gv cy br kw
		el grc sq hy hyw
		hi ur bn pa pnb gu mr ne or ory as si sa sd ks dv mai bh bho awa mag hne hif dty gom kok bpy rom syl ctg skr npi rwr anp raj mwr pi
		fa ps ku ckb kmr tg os prs pbt glk mzn lrc bal diq kiu zza ae pes`,
	"Afro-Asiatic":  `ar arz ary aeb apc ajp acm acq ars arb afb ayl he am ti mt arc syc ha so om gaz kab ber tzm zgh rif shi taq sid aa tig gez`,
	"Sino-Tibetan":  `zh yue wuu hak nan gan hsn cdo cjy lzh cmn my bo dz new mni lus kac sit kar ii`,
	"Austronesian":  `id ms zsm jv su min ace ban bjn bug bcl ceb tl fil ilo pag pam war mg plt mi sm to ty haw fj ch mh na nia tet mad hil cbv gil rar niu ho`,
	"Austroasiatic": `vi km kha mnw sat`,
	"Turkic":        `tr az azb azj kk ky uz uzn tk tt ba cv ug sah tyv krc kum alt gag crh kaa nog chg ota kjh`,
	"Uralic":        `fi et ekk hu se kv koi mhr mrj chm myv mdf udm vep vro olo krl smn sma smj sms fkv liv izh`,
	"Dravidian":     `ta te kn ml tcy gon bra kru`,
	"Mongolic":      `mn khk bxr bua xal`,
	"Tungusic":      `mnc evn`,
	"Japonic":       `ja ryu`,
	"Koreanic":      `ko jje`,
	"Kra-Dai":       `th lo shn za khb nod tts aho`,
	"Hmong-Mien":    `hmn mww hnj ium`,
	"Niger-Congo": `sw swh yo ig zu xh st tn ss nr nd nso ts ve rw rn lg ln kg sn ny bem tum umb kmb kam ki kj ng hz
		lua lu cjk lub ff fuv wo ee ak tw fat fon mos gur gaa bum sg kbp dag`,
	"Mande":               `bm dyu kpe men sus`,
	"Nilotic":             `luo din dik nus mas teo ach`,
	"Saharan":             `kr knc`,
	"Songhay":             `son ses dje`,
	"Kartvelian":          `ka xmf lzz sva`,
	"Northwest Caucasian": `ab ady kbd`,
	"Northeast Caucasian": `av ce lez lbe inh dar tab rut`,
	"Basque":              `eu`,
	"Quechuan":            `qu quy quz qug`,
	"Aymaran":             `ay ayr`,
	"Tupian":              `gn gug`,
	"Uto-Aztecan":         `nah nhe nhn ncj hop`,
	"Mayan":               `yua quc kek mam tzo tzh cak`,
	"Eskimo-Aleut":        `iu kl ik ale esu`,
	"Algic":               `cr oj ojb mic bla`,
	"Na-Dene":             `nv`,
	"Iroquoian":           `chr moh`,
	"constructed":         `eo ia ie io vo jbo tok nov avk tlh`,
}

// scripts are the scripts of languages for which CLDR names no likely one.
var scripts = map[string]string{"azb": "Arab", "cbk": "Latn", "mwl": "Latn", "xal": "Cyrl"}
