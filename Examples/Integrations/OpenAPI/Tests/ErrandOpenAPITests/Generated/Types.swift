// Code as swift-openapi-generator writes it from openapi.yaml, but written by hand and limited to the parts that the
// tests use.
@_spi(Generated) import OpenAPIRuntime

import struct Foundation.URL

protocol APIProtocol: Sendable {
    func getUser(_ input: Operations.getUser.Input) async throws -> Operations.getUser.Output
    func upload(_ input: Operations.upload.Input) async throws -> Operations.upload.Output
    func download(_ input: Operations.download.Input) async throws -> Operations.download.Output
}

enum Servers {
    enum Server1 {
        static func url() throws -> Foundation.URL {
            try Foundation.URL(validatingOpenAPIServerURL: "/v1", variables: [])
        }
    }
}

enum Components {
    enum Schemas {
        struct User: Codable, Hashable, Sendable {
            var id: Int
            var name: String
        }
        struct Problem: Codable, Hashable, Sendable {
            var title: String
        }
    }
}

enum Operations {
    enum getUser {
        static let id = "getUser"
        struct Input: Sendable, Hashable {
            struct Path: Sendable, Hashable { var id: Int }
            var path: Path
            struct Query: Sendable, Hashable { var detail: String? }
            var query = Query()
            struct Headers: Sendable, Hashable {
                var accept: [OpenAPIRuntime.AcceptHeaderContentType<AcceptableContentType>] = .defaultValues()
            }
            var headers = Headers()
        }
        enum Output: Sendable, Hashable {
            struct Ok: Sendable, Hashable {
                enum Body: Sendable, Hashable { case json(Components.Schemas.User) }
                var body: Body
            }
            case ok(Ok)
            struct ServiceUnavailable: Sendable, Hashable {
                enum Body: Sendable, Hashable { case json(Components.Schemas.Problem) }
                var body: Body
            }
            case serviceUnavailable(ServiceUnavailable)
            case undocumented(statusCode: Int, OpenAPIRuntime.UndocumentedPayload)
        }
        enum AcceptableContentType: AcceptableProtocol {
            case json
            case other(String)
            init?(rawValue: String) { self = rawValue.lowercased() == "application/json" ? .json : .other(rawValue) }
            var rawValue: String {
                switch self {
                case .json: "application/json"
                case .other(let string): string
                }
            }
            static var allCases: [Self] { [.json] }
        }
    }
    enum upload {
        static let id = "upload"
        struct Input: Sendable, Hashable {
            enum Body: Sendable, Hashable { case binary(OpenAPIRuntime.HTTPBody) }
            var body: Body
        }
        enum Output: Sendable, Hashable {
            case created
            case undocumented(statusCode: Int, OpenAPIRuntime.UndocumentedPayload)
        }
    }
    enum download {
        static let id = "download"
        struct Input: Sendable, Hashable {}
        enum Output: Sendable, Hashable {
            struct Ok: Sendable, Hashable {
                enum Body: Sendable, Hashable { case binary(OpenAPIRuntime.HTTPBody) }
                var body: Body
            }
            case ok(Ok)
            case undocumented(statusCode: Int, OpenAPIRuntime.UndocumentedPayload)
        }
    }
}
