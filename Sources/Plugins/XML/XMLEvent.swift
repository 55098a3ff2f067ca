/// An event in a stream of XML; see ``XMLEvents``.
///
/// Comments and processing instructions are left out.
public enum XMLEvent: Sendable, Hashable {
    /// An element begins: its name, and its attributes without the declarations of namespaces.
    case start(XMLName, [XMLName: String])
    /// Text, with references resolved; a CDATA section is text. A long text is delivered in several events.
    case text(String)
    /// An element ends.
    case end(XMLName)
}
