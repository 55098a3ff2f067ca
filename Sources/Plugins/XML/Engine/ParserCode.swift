/// The numbers that Foundation's parser gives to its failures, which are those of libxml2.
enum ParserCode {
    /// An end tag of another name than its start tag.
    static let mismatch = 76

    /// Warnings: an unknown version, values of `xml:lang` and `xml:space`, URIs that are not absolute.
    static func isWarning(_ code: Int) -> Bool { [97, 98, 99, 100, 102].contains(code) }

    /// What is wrong with prefixes. Not every platform's parser says it; see ``NamespaceScope``.
    static func isNamespace(_ code: Int) -> Bool { (200...205).contains(code) && code != 203 }

    /// What is wrong, without a word of the document.
    static func message(_ code: Int) -> String {
        messages[code] ?? "the document is not well-formed (parser code \(code))"
    }

    private static let messages = [
        4: "the document has no root element",
        5: "there is something behind the root element",
        6: "a hexadecimal character reference is not well-formed",
        7: "a decimal character reference is not well-formed",
        8: "a character reference is of no character that is allowed",
        9: "a character is not allowed",
        23: "a reference has no semicolon",
        26: "an entity is not declared",
        27: "an entity is not declared",
        38: "an attribute has a < in its value",
        39: "an attribute has no quotes around its value",
        40: "an attribute has no end of its value",
        41: "an attribute has no value",
        42: "an element has two attributes of the same name",
        45: "a comment has no end",
        46: "a processing instruction has no name",
        47: "a processing instruction has no end",
        62: "text contains ]]>",
        64: "an XML declaration is behind the beginning of the document",
        65: "white space is missing between attributes",
        68: "a name is missing",
        73: "a tag has no end",
        76: "an end tag has another name than its start tag",
        77: "an element has no end tag",
        200: "the prefixes xml and xmlns cannot be declared anew",
        201: "a prefix has no namespace",
        202: "a name has a colon where none is allowed",
        203: "an element has two attributes of the same name and namespace",
        204: "a prefix is declared without a namespace",
        205: "a name has a colon where none is allowed",
        80: "a comment contains --",
    ]
}
