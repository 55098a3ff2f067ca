import ErrandJSONSchema
import Foundation

enum OrdersBench {
    static let schema = #"""
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array", "items": {"$ref": "#/$defs/order"},
         "$defs": {
          "order": {"type": "object", "required": ["id", "state", "customer", "items", "payment"], "properties": {
             "id": {"type": "integer", "minimum": 1}, "state": {"enum": ["open", "paid", "sent", "returned"]},
             "created": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}T"},
             "customer": {"$ref": "#/$defs/customer"},
             "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1},
             "payment": {"$ref": "#/$defs/payment"},
             "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
             "labels": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": {"type": "string"}},
             "note": {"type": ["string", "null"], "maxLength": 200}},
            "if": {"properties": {"state": {"const": "sent"}}, "required": ["state"]}, "then": {"required": ["tracking"]}},
          "customer": {"type": "object", "required": ["name", "email"], "properties": {
             "name": {"type": "string", "minLength": 1}, "email": {"type": "string", "pattern": "^[^@]+@[^@]+$"}}},
          "item": {"type": "object", "required": ["sku", "quantity", "price"], "additionalProperties": false, "properties": {
             "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}, "title": {"type": "string"},
             "quantity": {"type": "integer", "minimum": 1, "maximum": 1000}, "price": {"type": "number", "minimum": 0}}},
          "payment": {"oneOf": [
             {"required": ["kind", "last4"], "properties": {"kind": {"const": "card"}, "brand": {"type": "string"},
                "last4": {"type": "string", "minLength": 4, "maxLength": 4}}},
             {"required": ["kind", "iban"], "properties": {"kind": {"const": "iban"}, "iban": {"type": "string"}}},
             {"required": ["kind"], "properties": {"kind": {"const": "cash"}}}]}}}
        """#

    /// Builds the document from a rule, so every run reads the same bytes.
    static func document(bytes: Int) -> Data {
        let states = ["open", "paid", "sent", "returned"]
        let payments = [
            #"{"kind":"card","last4":"4242","brand":"visa"}"#,
            #"{"kind":"iban","iban":"DE89370400440532013000","owner":"A. Person"}"#, #"{"kind":"cash"}"#,
        ]
        var text = "["
        var index = 0
        while text.utf8.count < bytes {
            if index > 0 { text += "," }
            text += "{\"id\":\(100_000 + index),\"state\":\"\(states[index % 4])\","
            text += "\"created\":\"2024-05-0\(1 + index % 9)T12:34:56Z\",\"customer\":{\"name\":\"Customer \(index)\","
            text += "\"email\":\"user\(index)@example.com\"},\"items\":["
            for item in 0..<(1 + index % 4) {
                if item > 0 { text += "," }
                text += "{\"sku\":\"ABC-\(1_000 + (index + item) % 9_000)\",\"quantity\":\(1 + item),"
                text += "\"price\":\(Double(index % 10_000) / 100),\"title\":\"A thing of some use number \(item)\"}"
            }
            text += "],\"payment\":\(payments[index % 3]),\"tags\":[\"new\",\"gift\",\"eu-\(index % 7)\"],"
            text += "\"labels\":{\"source\":\"web\",\"campaign\":\"spring\"},"
            text += "\"note\":\(index % 5 == 0 ? "null" : "\"Leave it with the neighbour, please.\"")"
            if index % 4 == 2 { text += ",\"tracking\":\"T\(index)\"" }
            text += "}"
            index += 1
        }
        return Data((text + "]").utf8)
    }

    /// Returns a union with `count` branches, and 1,000 objects that each match one branch.
    static func union(_ count: Int) throws -> (JSONSchema, Data) {
        let branches = (0..<count).map {
            #"{"properties": {"kind": {"const": "k\#($0)"}, "v": {"type": "integer"}}, "required": ["kind"]}"#
        }
        let objects = (0..<1_000).map { "{\"kind\":\"k\($0 % count)\",\"v\":\($0)}" }
        return (
            try JSONSchema(Data(#"{"items": {"oneOf": [\#(branches.joined(separator: ","))]}}"#.utf8)),
            Data("[\(objects.joined(separator: ","))]".utf8)
        )
    }
}
