"""The words by which questions about documents are understood: concepts, and the forms that name them. Data alone.

Hebrew forms stand without prefixes, which are taken off a question's words. To teach a word, add it to its line.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from search_config.document_fields import DocumentType, PartyKind


class Concept(StrEnum):
    """What a word of a question says beside naming a type of documents, a part or a currency."""

    DOCUMENT = "document"
    OTHER_DOCUMENT = "other_document"
    COUNT = "count"
    NUMBER = "number"
    TOTAL = "total"
    WHOLE = "whole"
    AVERAGE = "average"
    GREAT = "great"
    SMALL = "small"
    LATE = "late"
    EARLY = "early"
    MOST = "most"
    WHO = "who"
    LIST = "list"
    WHEN = "when"
    EACH = "each"
    AMOUNT = "amount"
    PAID = "paid"
    SIGNED = "signed"
    EFFECTIVE = "effective"
    EXPIRES = "expires"
    IN_FORCE = "in_force"
    DATED = "dated"
    PARTY = "party"
    ABOVE = "above"
    BELOW = "below"
    IN_LANGUAGE = "in_language"
    NAMED = "named"
    CONTENT = "content"
    COMPARE = "compare"
    HOW = "how"


TYPES: Final[dict[DocumentType, str]] = {
    DocumentType.CONTRACT: "חוזה חוזים חוזי הסכם הסכמים הסכמי התקשרות התקשרויות contract contracts agreement "
    "agreements lease leases nda",
    DocumentType.INVOICE: "חשבונית חשבוניות invoice invoices",
    DocumentType.REPORT: "דוח דוחות דו״ח דו״חות report reports",
    DocumentType.CORRESPONDENCE: "מכתב מכתבים מכתבי תכתובת תכתובות התכתבות התכתבויות letter letters correspondence",
    DocumentType.PROTOCOL: "פרוטוקול פרוטוקולים minutes protocol protocols",
    DocumentType.PROCEDURE: "נוהל נהלים נהלי procedure procedures",
}
PARTS: Final[dict[PartyKind, str]] = {
    PartyKind.VENDOR: "ספק ספקים ספקי ספקית קבלן קבלנים vendor vendors supplier suppliers contractor contractors",
    PartyKind.CLIENT: "לקוח לקוחות לקוחה client clients customer customers",
    PartyKind.AUTHORITY: "authority authorities",
}
CURRENCIES: Final[dict[str, str]] = {
    "ILS": "שקל שקלים ש״ח ils nis shekel shekels ₪",
    "USD": "דולר דולרים usd dollar dollars $",
    "EUR": "יורו אירו eur euro euros €",
    "GBP": "לירות שטרלינג gbp pounds £",
}
LANGUAGES: Final[dict[str, str]] = {"he": "עברית hebrew", "en": "אנגלית english"}
CONCEPTS: Final[dict[Concept, str]] = {
    Concept.DOCUMENT: "מסמך מסמכים קובץ קבצים document documents file files",
    # Kinds that no type stands for.
    Concept.OTHER_DOCUMENT: "הזמנה הזמנות ישיבה ישיבות order orders meeting meetings",
    Concept.COUNT: "כמה כמות count",
    Concept.NUMBER: "מספר number",
    Concept.TOTAL: "סך סה״כ סכמו היקף total sum",
    Concept.WHOLE: "כולל כוללת הכולל הכוללת כללי overall",
    Concept.AVERAGE: "ממוצע ממוצעת average mean",
    Concept.GREAT: "גדול גדולה גבוה גבוהה יקר יקרה largest biggest highest greatest",
    Concept.SMALL: "קטן קטנה נמוך נמוכה זול זולה smallest lowest cheapest",
    Concept.LATE: "אחרון אחרונה חדש חדשה latest newest recent last",
    Concept.EARLY: "ראשון ראשונה ותיק ותיקה ישן ישנה מוקדם earliest oldest first",
    Concept.MOST: "ביותר הכי most",
    Concept.WHO: "מי למי who whom whose",
    Concept.LIST: "אילו אלו איזה איזו רשימה רשימת תציג הצג הציגו תראה הראה תן פירוט פרט מהם which list show",
    Concept.WHEN: "מתי תאריך תאריכים מועד when date dates",
    Concept.EACH: "לכל per each",
    Concept.AMOUNT: "סכום סכומים שווי amount amounts value worth",
    Concept.PAID: "שילמנו שולם הוצאה הוצאות הוצאנו עלות עלו paid spend spent",
    Concept.SIGNED: "חתם חתמו נחתם נחתמה נחתמו חתימה חתימת חתום חתומים signed signature",
    Concept.EFFECTIVE: "לתוקף effective",
    Concept.EXPIRES: "יפקע יפקעו יפוג יפוגו יסתיים "
    "יסתיימו פקע פקעו פוקע פוקעת פוקעים פג פגה פגים פקיעה פקיעת פקיעתו תפוגה תפוגת מסתיים מסתיימת מסתיימים הסתיים "
    "הסתיימו הסתיימה להסתיים סיום expire expires expired expiring expiry ends",
    Concept.IN_FORCE: "בתוקף תקף תקפים valid",
    Concept.DATED: "נוסף נוספו נשלח נשלחו נשלחה התקבל התקבלו התקבלה קיבלנו שלחנו הופקו הופקה הופק נרשם נרשמו נכתב "
    "נכתבו התפרסם התפרסמו פורסם פורסמו sent received issued written recorded registered published",
    Concept.PARTY: "צד צדדים צדדי party parties",
    Concept.ABOVE: "מעל יותר לפחות above over least exceeding",
    Concept.BELOW: "מתחת פחות below under",
    Concept.IN_LANGUAGE: "כתוב כתובים כתובה שפה written language",
    Concept.NAMED: "עם של מאת חברת ספק קבלן רשות עיריית with from of by",
    Concept.CONTENT: "נאמר כתוב נכתב אומר אומרים אומרת אמרו מזכיר מזכירה מזכירים מזכירות מזכירת כולל כוללים כוללת "
    "כוללות עוסק עוסקים עוסקת דן דנים נדון קובע קובעים נקבע סוכם הוחלט החליטו תנאי תנאים תניה תניית תניות סעיף "
    "סעיפי סעיפים סיבה סיבת נימוק נימוקי נימוקים מסקנה מסקנות המלצה המלצות המלצת טענה טענות הערה הערות לגבי "
    "בנוגע בנושא נושא בעניין עניין לעניין בשאלת שאלת התחייב התחייבו התחייבות התחייבויות מחייב מחייבים מתיר "
    "מתירים אוסר אוסרים מצוין צוין סכם תסכם סיכום מספר מספרת מתלונן מתלוננים מתלוננת מתחדשים מתחדש נשאר נשארו "
    "לפי say says said mention mentions mentioned state states clause clauses term terms condition conditions "
    "contain contains include includes decide decided conclusion conclusions recommend recommendation "
    "recommendations about regarding concerning according summarize summarise explain describe cover covers "
    "require requires allow allows",
    Concept.COMPARE: "סותר סותרת סותרים סתירה מתיישב מתיישבת תואם תואמת הבדל הבדלים השווה תשווה השוואה לעומת "
    "contradict contradicts contradiction conflict conflicts compare comparison difference differ differs "
    "consistent versus vs",
    Concept.HOW: "איך כיצד למה מדוע האם מותר אסור אפשר ניתן חייב חייבים צריך צריכים רשאי זכאי how why can may must "
    "should allowed",
}
# Words that say nothing about which documents are meant.
EMPTY: Final = frozenset(
    (  # noqa: SIM905  a list of two hundred quoted words can't be read
        "מה מהו מהי מהן הוא היא הם הן זה זו זאת אלה את עם של על אל מן בין לבין כל כלל יש אין היה היו לנו לי "
        "שלנו אותו בו בה הללו גם רק או אם כי אשר נמצא נמצאים נמצאות במערכת מערכת ארכיון בארכיון אצלנו קיים קיימים "
        "קיימות מופיע מופיעים מופיעות שונה שונים שונות נכון נא בבקשה שלום היי אנחנו עומד עומדים עומדת נכנס "
        "נכנסה נכנסו כתובים חל שמופיעים ב ל מ ש ה ו כ is are was were the a an of in on at for from with by to do "
        "does did we us our have has had there me my all any this that these those please what it and or you i its "
        "be been system archive get got give tell find חברת חברה company ltd בע״מ צפויים "
        "שייך שייכים אנא"
    ).split()
)
# Words that a slip of the pen would otherwise turn into a form above.
NEVER_CORRECTED: Final = frozenset(
    (
        "חוזר",
        "חוזרים",
        "חוזרת",
        "חוזק",
        "חוזרי",
        "מכתש",
        "דוגמה",
        "ספרים",
        "ספרי",
        "תקן",
        "נושאים",
        "כללית",
        "מוקד",
        "מוקדם",
        "מוקדמת",
    )
)
