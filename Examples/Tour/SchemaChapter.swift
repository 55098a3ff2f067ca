import Errand
import ErrandEssentials
import ErrandExampleShop
import ErrandExampleUsers
import ErrandJSONSchema
import ErrandJSONValidation
import ErrandSystemTransport
import ErrandTesting

/// Validates responses against the JSON Schema in the API's OpenAPI document.
enum SchemaChapter {
    private static let document = #"""
        {"openapi": "3.1.0", "components": {"schemas": {"User": {"type": "object", "required": ["id", "name"], "properties": {
          "id": {"type": "integer", "minimum": 1}, "name": {"type": "string", "pattern": "^[A-Z]"}}}}}}
        """#

    private struct GetChecked: JSONValidatedRequest {
        typealias Output = User
        let path: String
        let shape: JSONSchema
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("A schema: responses against the OpenAPI document of the shop")
        shop.server.on(.get, "/v1/users/9", .json(#"{"id":0,"name":"bob"}"#))
        let schema = try JSONSchema(Data(document.utf8), at: "/components/schemas/User")
        let user = try await shop.agent.send(GetChecked(path: "users/7", shape: schema)).value
        Chapter.line("users/7 fits: \(user.name)")
        do { _ = try await shop.agent.send(GetChecked(path: "users/9", shape: schema)) } catch let error as ErrandError
        {
            for problem in error.jsonValidation?.problems ?? [] { Chapter.line("users/9: \(problem)") }
        }
        Chapter.end()
    }
}
