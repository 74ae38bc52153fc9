package guard

// english lists words of English that other languages do not borrow as terms: function words, and adverbs that connect
// sentences. Longer words in "-ly" are told by their ending.
var english = lists(`a about above according accordingly across after afterwards again against ago all almost along already also
	although altogether always am among an and another any anyhow anyone anything anyway are around as at away badly
	barely be became because become been before beforehand behind being below besides between both but by came can
	cannot could deeply despite did do does doing don't done during each easily either else enough even evenly ever
	every everyone everything except fairly few firmly for freely from fully further furthermore get gets give given
	gladly go goes going gone got had hardly has have having he hence her here hers highly him his how however i
	i'll i'm i've if in indeed instead into is isn't it it's its itself just kindly know lately later least less let
	let's like likely likewise made mainly make makes making many may maybe me meanwhile merely might mine more
	moreover most mostly much must my myself nearly neatly need needs neither never nevertheless newly nicely no
	nobody none nonetheless nor not nothing now nowadays of often on once one only onto openly or other others
	otherwise ought our ours out over own partly perhaps please poorly purely put quite rarely rather really safely
	said same say says see seem seems several shall she should simply since slowly so solely some somebody somehow
	someone something sometimes soon still such surely take taken than thank thanks that that's the their theirs
	them themselves then there thereafter thereby therefore these they they're thing things this those though
	through throughout thus till to today together tomorrow tonight too toward towards truly under unless until unto
	upon us use used using very via want wants was way we we'll we're we've well went were what whatever when
	whenever where whereas whereby whether which while who whoever wholly whom whose why widely will with within
	without won't would yes yesterday yet you you'll you're you've your yours yourself`)

// latinWords lists words of the Latin phrases that many languages use.
var latinWords = lists(`a ab acta ad addendum aeterna agenda al alea alia alibi alma alter ante antiqua aqua arbitrium argumentum aurea
	autem belli bellum bene bis bona boni bonum bonus brevi brevis capita captandae carpe casus caveat certiorari
	cetera ceteris civitas clausula clausus coda cogito compos confer consensus contra contrario corpus credo credula
	cui culpa cum curia curriculum de dei delicti delicto deo deus dictum die diem dies dixit dolus dominus dubio dura
	ecce ego emptor eo erga ergo errare errata erratum est et ex exempli exequatur extremis facie facit facta facto
	fait festina fiat fide fides finis flagrante forma fortiori forum fumus generis grano grata gratia grosso habeas
	hoc hominem homo honoris horribilis humanum iacta ibidem id idem ignis imperium in incognita infinitum infra
	initio inter interim intra intuitu invicta ipsa ipse ipsis ipso iure iuris ius iustitia jure juris lapsus lato
	laude lege legem legis lente lex libido lingua linguae littera locus lumen magna magnum major mala malum mandamus
	manu manus margine mater maxima mea medias medio mens mente meridiem militari minima minus modo modus mora mortem
	mortis motu mundi mutandis mutatis nascituri nauseam ne nemo nihil nisi nolens nomen non nota novo novum nullum
	numerus nunc obiter omnes omnia omnibus operandi opus ora orbi origine pacta pane panem paribus partes pax pecunia
	per perpetuum perseverare persona personae petita petitio plano plena plus populi post posteriori postscriptum
	prima primus priori pro probandi prohibita proprio propter punctum qua quaestio quid quo quod quorum rasa rata
	ratio re rebus recto referendum reo requiem rerum res rigor sacra salis sana sanctum sapiens scientia se sed
	semper sensu seriatim servanda sic simpliciter sine sponte stante statu status stricto sui sum summa sunt supra
	tabula tacito tantum tempora tempore temporis terra tertium tunc ubi ultima ultra urbi usque vade vadis veni
	verbatim veritas versa versus vetera veto via vice vici vide vidi vino vires virtus vis vita vitae viva vivendi
	voce vocem volens vox vulgo`)
