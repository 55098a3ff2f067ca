import Foundation

/// What the compiler says of a module: its symbols, and how they relate.
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
        }

        let identifier: Identifier
        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]
        /// Nil for a symbol that the compiler made, and for what lies within a private type.
        let location: Location?
    }

    struct Relationship: Decodable {
        struct Origin: Decodable { let identifier: String }

        let kind: String
        let source: String
        let target: String
        /// Of a member that implements a requirement: the requirement.
        let sourceOrigin: Origin?
    }

    let module: Module
    var symbols: [Symbol]
    var relationships: [Relationship]

    /// The graphs of the files in a folder, which may extend types of other modules.
    static func all(in folder: URL) throws -> [SymbolGraph] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
            .sorted { $0.path < $1.path }
            .map { try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0)) }
    }
}
