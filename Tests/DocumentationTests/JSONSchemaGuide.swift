// The code of docs/json-schema.md. DocumentationTests compares the two.
import Errand
import ErrandJSONSchema
import ErrandJSONValidation
import Foundation

struct GetOrder: JSONValidatedRequest {
    let shape: JSONSchema
    let id: Int
    var path: String { "orders/\(id)" }
}

private func schemas(_ agent: NetworkAgent) async throws {
    let document = try Data(contentsOf: URL(filePath: "openapi.json"))
    let schema = try JSONSchema(document, at: "/components/schemas/Order")
    let order = try await agent.send(GetOrder(shape: schema, id: 1)).value
    let bundled: [String: Data] = ["https://example.com/address.json": Data(#"{"type": "object"}"#.utf8)]
    let text = #"{"properties": {"address": {"$ref": "https://example.com/address.json"}}}"#
    let customer = try JSONSchema(Data(text.utf8), formats: .assertion, resolver: { uri in bundled[uri] })
    _ = (order, customer)
}
