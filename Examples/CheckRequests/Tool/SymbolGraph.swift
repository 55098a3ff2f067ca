import Foundation

/// A module's symbols and their relationships, as emitted by the compiler.
struct SymbolGraph: Decodable {
    struct Module: Decodable { let name: String }

    struct Symbol: Decodable {
        struct Identifier: Decodable { let precise: String }
        struct Kind: Decodable { let identifier: String }
        struct Fragment: Decodable {
            let kind: String
            let spelling: String
            let preciseIdentifier: String?
        }
        struct Location: Decodable {
            struct Position: Decodable {
                let line: Int
                let character: Int
            }
            let uri: String
            let position: Position

            var path: String {
                let path = uri.hasPrefix("file://") ? String(uri.dropFirst(7)) : uri
                return path.removingPercentEncoding ?? path
            }
        }
        struct Signature: Decodable {
            struct Parameter: Decodable {
                let declarationFragments: [Fragment]
            }
            let parameters: [Parameter]?
        }

        let identifier: Identifier
        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]
        let functionSignature: Signature?
        /// Nil for a symbol that the compiler synthesized, or that lies within a private type.
        let location: Location?
    }

    struct Relationship: Decodable {
        struct Origin: Decodable { let identifier: String }

        let kind: String
        let source: String
        let target: String
        /// The requirement that this member implements, if any.
        let sourceOrigin: Origin?
    }

    let module: Module
    var symbols: [Symbol]
    var relationships: [Relationship]

    /// The graphs of all files in a folder. They may extend types of other modules.
    static func all(in folder: URL) throws -> [SymbolGraph] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
            .sorted { $0.path < $1.path }
            .map { try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0)) }
    }
}
