"""The fixed phrases of reports and screens in the languages we write: English, Chinese, Korean, Japanese.

Everything a report says that was not read in a source comes from here.
"""

from collections.abc import Iterable

from deep_research.i18n.dialogue_messages import ASKING
from deep_research.i18n.language import language_name
from deep_research.i18n.reason_messages import REASONS

_PHRASES: dict[str, dict[str, str]] = {
    "en": {
        "abstract": "Abstract",
        "at_a_glance": "At a glance",
        "key_findings": "Key findings",
        "conclusion": "Conclusion and outlook",
        "gaps": "What could not be found or done",
        "checked": "How this was checked",
        "references": "References",
        "assumptions": "Assumptions",
        "remarks": "Remarks made during the research",
        "added_sections": "Sections added during the research",
        "dropped_sections": "Sections dropped during the research",
        "finished_early": "*The research was ended early on request; this is what was known by then.*",
        "overview": "Overview",
        "answer": "Answer",
        "choosing": "When to use which",
        "head_to_head": "Direct comparison",
        "more_items": "Further items",
        "subject": "Subject",
        "what_it_is": "What the sources say",
        "when_to_use": "Use and limits",
        "sources": "Sources",
        "report_on": "{topic}",
        "comparison_of": "{subjects}: a comparison",
        "no_model": "No language model was used. Every sentence of content is quoted word for word from the "
        "documents listed below; headings and this kind of note are fixed text of the program.",
        "no_model_foreign": "The sources are in another language ({languages}); they are quoted as they stand, "
        "not translated.",
        "question": "Question",
        "nothing_found": "No document that was searched answers this question. Nothing is reported rather than "
        "something invented.",
        "searched_queries": "Searched for: {queries}.",
        "searched_places": "Searched in: {places}.",
        "section_empty": "Nothing that could be checked was found for this section.",
        "no_gaps": "No gaps were recorded.",
        "checked_counts": "{claims} statements were checked against the passages they cite: {supported} supported, "
        "{cut} cut, {left} left unverified.",
        "checked_how": "Each citation was resolved by code to a stored passage; quotations, numbers with their units, "
        "dates and names were compared with that passage, then the support of the statement by the passage was "
        "measured.",
        "checked_verbatim": "{verbatim} of the supported statements are verbatim quotations.",
        "cut_list": "Cut because the sources do not support it:",
        "left_list": "Left in the text although nobody could judge it:",
        "page": "p. {page}",
        "retrieved": "read {date}",
        "published": "published {date}",
        "no_date": "no date given",
        "cost": "{seconds} s, {searches} searches, {sources} sources read, {calls} model calls.",
        "thought_by": "Researched, written and judged by {model} ({provider}).",
        "thought_by_each": "Models of {provider}: {models}.",
        "judged": "The model judged {judged} of the statements.",
        "moved": "Statements that were given a better passage than the one they cited: {count}.",
        "rewritten": "Statements that were reworded so that their passages support them: {count}.",
        "cost_tokens": "{prompt} prompt tokens ({cached} from the provider's cache), {written} tokens written.",
        "cost_usd": "{usd} US dollars at list prices.",
        "few_sources": "Section “{section}” rests on one document only.",
        "weak_section": "Section “{section}”: {missing} was not found in the sources.",
        "objective": "Answer from the available sources: {question}",
        "section_about": "What the sources say about {subject}.",
        "see_section": "Further entries found but not given a section of their own: {names}.",
        "default_scope": "All documents given.",
        "assume_all": "No scope was given: all documents are considered.",
        "ask_topic": "What exactly should be researched? Please name the topic.",
        "ask_which": "What does “{term}” refer to? Please name it.",
        "ask_aspect": "Which aspect of “{term}” interests you?",
        "opt_progress": "Latest progress",
        "opt_how": "How it works",
        "opt_compare": "Comparison of alternatives",
        "opt_overview": "A general overview",
        "started_unclear": "The question left open what it is about; it was taken literally: “{question}”.",
        "conflict": "Where the sources disagree",
        "statement": "Statement",
        "source": "Source",
        "date": "Published",
        "continue_hint": "State kept. Go on with: deep-research resume {run_id}",
    },
    "zh": {
        "abstract": "摘要",
        "at_a_glance": "一览",
        "key_findings": "关键发现",
        "conclusion": "结论与展望",
        "gaps": "未能找到或完成的内容",
        "checked": "核查方式",
        "references": "参考来源",
        "assumptions": "假设",
        "remarks": "研究过程中的补充说明",
        "added_sections": "研究过程中增加的章节",
        "dropped_sections": "研究过程中取消的章节",
        "finished_early": "*应要求提前结束研究；以上为截至当时所掌握的内容。*",
        "overview": "概述",
        "answer": "回答",
        "choosing": "何时选用",
        "head_to_head": "直接对比",
        "more_items": "其他条目",
        "subject": "对象",
        "what_it_is": "来源中的表述",
        "when_to_use": "用途与局限",
        "sources": "来源",
        "report_on": "{topic}",
        "comparison_of": "{subjects}：对比",
        "no_model": "本报告未使用语言模型。正文每一句都逐字引自下列文档；标题和此类说明是程序的固定文字。",
        "no_model_foreign": "来源使用其他语言（{languages}），按原文引用，未作翻译。",
        "question": "问题",
        "nothing_found": "所检索的文档均未回答此问题。宁可不写，也不编造。",
        "searched_queries": "检索词：{queries}。",
        "searched_places": "检索范围：{places}。",
        "section_empty": "本节没有找到可以核查的内容。",
        "no_gaps": "没有记录到缺口。",
        "checked_counts": "共有 {claims} 条陈述与其引用的段落进行了核对：{supported} 条得到支持，{cut} 条被删除，{left} 条保留但未核实。",
        "checked_how": "每个引用都由程序解析到已保存的段落；引文、数字及其单位、日期和名称与该段落逐一比对，"
        "然后衡量段落对陈述的支持程度。",
        "checked_verbatim": "得到支持的陈述中有 {verbatim} 条为逐字引用。",
        "cut_list": "因来源不支持而删除：",
        "left_list": "未能判断、仍保留在正文中：",
        "page": "第 {page} 页",
        "retrieved": "读取于 {date}",
        "published": "发表于 {date}",
        "no_date": "未注明日期",
        "cost": "{seconds} 秒，{searches} 次检索，读取 {sources} 个来源，{calls} 次模型调用。",
        "thought_by": "由 {model}（{provider}）检索、撰写和评判。",
        "thought_by_each": "{provider} 的模型：{models}。",
        "judged": "模型评判了其中 {judged} 条。",
        "moved": "有 {count} 条换用了更合适的段落。",
        "rewritten": "有 {count} 条经改写后得到段落支持。",
        "cost_tokens": "输入 {prompt} 个 token（其中 {cached} 个来自服务商缓存），输出 {written} 个 token。",
        "cost_usd": "按标价 {usd} 美元。",
        "few_sources": "“{section}”一节仅依据一份文档。",
        "weak_section": "“{section}”一节：来源中未找到 {missing}。",
        "objective": "依据现有来源回答：{question}",
        "section_about": "来源中关于“{subject}”的内容。",
        "see_section": "另外发现、但未单独成节的条目：{names}。",
        "default_scope": "所有给定文档。",
        "assume_all": "未指定范围：考虑所有文档。",
        "ask_topic": "请告诉我具体的研究主题是什么？",
        "ask_which": "“{term}”具体指什么？请说明名称。",
        "ask_aspect": "您想了解“{term}”的哪个方面？",
        "opt_progress": "最新进展",
        "opt_how": "原理与机制",
        "opt_compare": "方案对比",
        "opt_overview": "总体概述",
        "started_unclear": "问题没有说明研究对象，因此按字面理解：“{question}”。",
        "conflict": "来源之间的分歧",
        "statement": "陈述",
        "source": "来源",
        "date": "发表日期",
        "continue_hint": "状态已保存。继续运行：deep-research resume {run_id}",
    },
    "ko": {
        "abstract": "초록",
        "at_a_glance": "한눈에 보기",
        "key_findings": "핵심 결과",
        "conclusion": "결론과 전망",
        "gaps": "찾지 못했거나 하지 못한 것",
        "checked": "검증 방법",
        "references": "참고 자료",
        "assumptions": "가정",
        "remarks": "조사 도중 남긴 의견",
        "added_sections": "조사 도중 추가한 절",
        "dropped_sections": "조사 도중 제외한 절",
        "finished_early": "*요청에 따라 조사를 일찍 마쳤으며, 그때까지 알게 된 내용입니다.*",
        "overview": "개요",
        "answer": "답변",
        "choosing": "언제 무엇을 쓸 것인가",
        "head_to_head": "직접 비교",
        "more_items": "그 밖의 항목",
        "subject": "대상",
        "what_it_is": "자료의 설명",
        "when_to_use": "용도와 한계",
        "sources": "자료",
        "report_on": "{topic}",
        "comparison_of": "{subjects}: 비교",
        "no_model": "언어 모델을 사용하지 않았습니다. 본문의 모든 문장은 아래 문서에서 그대로 인용한 것이며, "
        "제목과 이러한 안내문은 프로그램의 고정 문구입니다.",
        "no_model_foreign": "자료가 다른 언어({languages})로 되어 있어 번역하지 않고 원문 그대로 인용합니다.",
        "question": "질문",
        "nothing_found": "검색한 문서 가운데 이 질문에 답하는 것이 없습니다. 지어내지 않고 비워 둡니다.",
        "searched_queries": "검색어: {queries}.",
        "searched_places": "검색 범위: {places}.",
        "section_empty": "이 절에서는 검증할 수 있는 내용을 찾지 못했습니다.",
        "no_gaps": "기록된 공백이 없습니다.",
        "checked_counts": "진술 {claims}개를 인용한 구절과 대조했습니다. 뒷받침됨 {supported}개, 삭제 {cut}개, 미확인으로 남긴 것 {left}개.",
        "checked_how": "모든 인용은 코드가 저장된 구절로 확인했습니다. 인용문, 숫자와 단위, 날짜, 이름을 그 구절과 "
        "비교한 뒤 구절이 진술을 얼마나 뒷받침하는지 측정했습니다.",
        "checked_verbatim": "뒷받침된 진술 가운데 {verbatim}개는 원문 그대로의 인용입니다.",
        "cut_list": "자료가 뒷받침하지 않아 삭제함:",
        "left_list": "판단하지 못했으나 본문에 남긴 것:",
        "page": "{page}쪽",
        "retrieved": "{date} 읽음",
        "published": "{date} 발행",
        "no_date": "날짜 없음",
        "cost": "{seconds}초, 검색 {searches}회, 읽은 자료 {sources}개, 모델 호출 {calls}회.",
        "thought_by": "조사, 집필, 판정: {model} ({provider}).",
        "thought_by_each": "{provider}의 모델: {models}.",
        "judged": "그 가운데 {judged}개를 모델이 판정했습니다.",
        "moved": "{count}개는 더 알맞은 구절로 인용을 바꾸었습니다.",
        "rewritten": "{count}개는 구절이 뒷받침하도록 고쳐 썼습니다.",
        "cost_tokens": "입력 {prompt}토큰(그중 제공자 캐시 {cached}토큰), 출력 {written}토큰.",
        "cost_usd": "정가 기준 {usd}달러.",
        "few_sources": "“{section}” 절은 문서 하나에만 근거합니다.",
        "weak_section": "“{section}” 절: 자료에서 {missing}을(를) 찾지 못했습니다.",
        "objective": "주어진 자료로 답하기: {question}",
        "section_about": "“{subject}”에 대한 자료의 내용.",
        "see_section": "찾았으나 별도의 절을 두지 않은 항목: {names}.",
        "default_scope": "주어진 모든 문서.",
        "assume_all": "범위가 주어지지 않아 모든 문서를 고려합니다.",
        "ask_topic": "무엇을 조사할까요? 구체적인 주제를 알려 주세요.",
        "ask_which": "“{term}”은(는) 무엇을 가리키나요? 이름을 알려 주세요.",
        "ask_aspect": "“{term}”의 어떤 측면이 궁금하신가요?",
        "opt_progress": "최신 동향",
        "opt_how": "작동 원리",
        "opt_compare": "대안 비교",
        "opt_overview": "전반적인 개요",
        "started_unclear": "질문에 대상이 없어 글자 그대로 이해했습니다: “{question}”.",
        "conflict": "자료들이 서로 다른 점",
        "statement": "서술",
        "source": "출처",
        "date": "발행일",
        "continue_hint": "상태를 저장했습니다. 이어서 하려면: deep-research resume {run_id}",
    },
    "ja": {
        "abstract": "要旨",
        "at_a_glance": "一覧",
        "key_findings": "主な知見",
        "conclusion": "結論と展望",
        "gaps": "見つからなかったこと・できなかったこと",
        "checked": "検証の方法",
        "references": "参考資料",
        "assumptions": "前提",
        "remarks": "調査中の補足",
        "added_sections": "調査中に追加した節",
        "dropped_sections": "調査中に取りやめた節",
        "finished_early": "*要望により調査を早めに終えました。その時点までに分かった内容です。*",
        "overview": "概要",
        "answer": "回答",
        "choosing": "使い分け",
        "head_to_head": "直接の比較",
        "more_items": "その他の項目",
        "subject": "対象",
        "what_it_is": "資料の記述",
        "when_to_use": "用途と限界",
        "sources": "資料",
        "report_on": "{topic}",
        "comparison_of": "{subjects}：比較",
        "no_model": "言語モデルは使っていません。本文の各文は下記の文書からの逐語の引用であり、"
        "見出しとこの種の注記はプログラムの定型文です。",
        "no_model_foreign": "資料は別の言語（{languages}）で書かれており、翻訳せず原文のまま引用しています。",
        "question": "質問",
        "nothing_found": "検索した文書の中に、この質問に答えるものはありませんでした。作り話は書きません。",
        "searched_queries": "検索語：{queries}。",
        "searched_places": "検索範囲：{places}。",
        "section_empty": "この節について検証できる内容は見つかりませんでした。",
        "no_gaps": "記録された欠落はありません。",
        "checked_counts": "{claims} 件の記述を引用箇所と照合しました：裏付けあり {supported} 件、削除 {cut} 件、未確認のまま残したもの {left} 件。",
        "checked_how": "引用はすべてプログラムが保存済みの箇所に解決し、引用文・数値と単位・日付・名称を照合したうえで、"
        "記述がどれだけ裏付けられるかを測りました。",
        "checked_verbatim": "裏付けのある記述のうち {verbatim} 件は逐語の引用です。",
        "cut_list": "資料が裏付けないため削除：",
        "left_list": "判定できず本文に残したもの：",
        "page": "{page} ページ",
        "retrieved": "{date} 閲覧",
        "published": "{date} 発行",
        "no_date": "日付なし",
        "cost": "{seconds} 秒、検索 {searches} 回、資料 {sources} 件、モデル呼び出し {calls} 回。",
        "thought_by": "調査・執筆・判定：{model}（{provider}）。",
        "thought_by_each": "{provider} のモデル：{models}。",
        "judged": "そのうち {judged} 件をモデルが判定しました。",
        "moved": "{count} 件はより適切な箇所に改めました。",
        "rewritten": "{count} 件は箇所が裏付けるように書き直しました。",
        "cost_tokens": "入力 {prompt} トークン（うちキャッシュ {cached} トークン）、出力 {written} トークン。",
        "cost_usd": "定価で {usd} ドル。",
        "few_sources": "「{section}」の節は一つの文書だけに基づいています。",
        "weak_section": "「{section}」の節：資料に {missing} は見つかりませんでした。",
        "objective": "手元の資料から答える：{question}",
        "section_about": "「{subject}」についての資料の内容。",
        "see_section": "見つかったが独立の節としなかった項目：{names}。",
        "default_scope": "与えられたすべての文書。",
        "assume_all": "範囲の指定がないため、すべての文書を対象とします。",
        "ask_topic": "何を調べますか。具体的な主題を教えてください。",
        "ask_which": "「{term}」は何を指しますか。名前を教えてください。",
        "ask_aspect": "「{term}」のどの側面を知りたいですか。",
        "opt_progress": "最新の進展",
        "opt_how": "仕組み",
        "opt_compare": "代替案の比較",
        "opt_overview": "全体の概要",
        "started_unclear": "質問に対象がないため、文字どおりに解釈しました：「{question}」。",
        "conflict": "資料の間の食い違い",
        "statement": "記述",
        "source": "出典",
        "date": "発行日",
        "continue_hint": "状態は保存されています。続けるには: deep-research resume {run_id}",
    },
}

for _code, _asking in ASKING.items():
    _PHRASES[_code].update(_asking)


_WIDE = ("zh", "ja")


def phrase(name: str, language: str, /, **values: object) -> str:
    """Return the fixed phrase `name` in `language` (English where we have none), filled with `values`.

    Raises KeyError for an unknown name or a missing value.
    """
    known = language if language in _PHRASES else "en"
    return (_PHRASES[known].get(name) or REASONS[known][name]).format(**values)


def running(sentences: Iterable[str], language: str) -> str:
    """Return sentences as running text: Chinese and Japanese set no space between them."""
    return ("" if language in _WIDE else " ").join(sentences)


def enumerated(parts: Iterable[str], language: str) -> str:
    """Return parts that may be sentences or not as one line."""
    return ("；" if language in _WIDE else "; ").join(part.strip().rstrip(".。；;") for part in parts)


def bracketed(text: str, language: str) -> str:
    """Return a remark in brackets, with the space before it that the language sets."""
    return f"（{text}）" if language in _WIDE else f" ({text})"


def colon(language: str) -> str:
    """Return a colon with the space after it that the language sets."""
    return "：" if language in _WIDE else ": "


def heading(name: str, language: str) -> str:
    """Return the phrase `name` as the bold beginning of a line."""
    return f"**{phrase(name, language)}{colon(language).rstrip()}**{' ' * (language not in _WIDE)}"


def languages() -> tuple[str, ...]:
    """Return the codes of the languages we have phrases in."""
    return tuple(_PHRASES)


def names() -> frozenset[str]:
    """Return the names of all phrases."""
    return frozenset(_PHRASES["en"] | REASONS["en"])


def language_list(codes: list[str]) -> str:
    """Return languages by their own names, for a phrase."""
    return ", ".join(language_name(code) for code in codes)
