/// The metaschemas of the specifications, which are known without a resolver.
enum Metaschemas {
    private static let texts: [String: String] = {
        let all = MetaschemaDraft7.documents + Metaschema2019.documents + Metaschema2020.documents
        return Dictionary(all.map { ($0.uri, $0.text) }, uniquingKeysWith: { first, _ in first })
    }()

    static func text(of uri: String) -> String? { texts[uri] }
}
