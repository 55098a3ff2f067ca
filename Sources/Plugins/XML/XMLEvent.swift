/// An event in a stream of XML; see ``XMLEvents``.
///
/// Comments and processing instructions are left out.
public enum XMLEvent: Sendable, Hashable {
    /// The start of an element, with its name and its attributes. Namespace declarations are left out.
    case start(XMLName, [XMLName: String])
    /// Text with references resolved. CDATA sections are text, too. Long text is delivered in several events.
    case text(String)
    /// The end of an element.
    case end(XMLName)
}
