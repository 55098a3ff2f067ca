// Code as swift-openapi-generator writes it from openapi.yaml, but written by hand and limited to the parts that the
// tests use.
import HTTPTypes
@_spi(Generated) import OpenAPIRuntime

import struct Foundation.URL

struct Client: APIProtocol {
    private let client: UniversalClient

    init(
        serverURL: Foundation.URL, configuration: Configuration = .init(), transport: any ClientTransport,
        middlewares: [any ClientMiddleware] = []
    ) {
        client = .init(
            serverURL: serverURL, configuration: configuration, transport: transport, middlewares: middlewares)
    }

    private var converter: Converter { client.converter }

    func getUser(_ input: Operations.getUser.Input) async throws -> Operations.getUser.Output {
        try await client.send(
            input: input, forOperation: Operations.getUser.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/users/{}", parameters: [input.path.id])
                var request: HTTPTypes.HTTPRequest = .init(soar_path: path, method: .get)
                suppressMutabilityWarning(&request)
                try converter.setQueryItemAsURI(
                    in: &request, style: .form, explode: true, name: "detail", value: input.query.detail)
                converter.setAcceptHeader(in: &request.headerFields, contentTypes: input.headers.accept)
                return (request, nil)
            },
            deserializer: { response, responseBody in
                switch response.status.code {
                case 200:
                    return .ok(
                        .init(
                            body: try await converter.getResponseBodyAsJSON(
                                Components.Schemas.User.self, from: responseBody,
                                transforming: { value in .json(value) })))
                case 503:
                    return .serviceUnavailable(
                        .init(
                            body: try await converter.getResponseBodyAsJSON(
                                Components.Schemas.Problem.self, from: responseBody,
                                transforming: { value in .json(value) })))
                default:
                    return .undocumented(
                        statusCode: response.status.code,
                        .init(headerFields: response.headerFields, body: responseBody))
                }
            })
    }

    func upload(_ input: Operations.upload.Input) async throws -> Operations.upload.Output {
        try await client.send(
            input: input, forOperation: Operations.upload.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/files", parameters: [])
                var request: HTTPTypes.HTTPRequest = .init(soar_path: path, method: .post)
                suppressMutabilityWarning(&request)
                let body: OpenAPIRuntime.HTTPBody?
                switch input.body {
                case .binary(let value):
                    body = try converter.setRequiredRequestBodyAsBinary(
                        value, headerFields: &request.headerFields, contentType: "application/octet-stream")
                }
                return (request, body)
            },
            deserializer: { response, responseBody in
                switch response.status.code {
                case 201: return .created
                default:
                    return .undocumented(
                        statusCode: response.status.code,
                        .init(headerFields: response.headerFields, body: responseBody))
                }
            })
    }

    func download(_ input: Operations.download.Input) async throws -> Operations.download.Output {
        try await client.send(
            input: input, forOperation: Operations.download.id,
            serializer: { _ in
                let path = try converter.renderedPath(template: "/files", parameters: [])
                return (HTTPTypes.HTTPRequest(soar_path: path, method: .get), nil)
            },
            deserializer: { response, responseBody in
                switch response.status.code {
                case 200:
                    return .ok(
                        .init(
                            body: try converter.getResponseBodyAsBinary(
                                OpenAPIRuntime.HTTPBody.self, from: responseBody,
                                transforming: { value in .binary(value) })))
                default:
                    return .undocumented(
                        statusCode: response.status.code,
                        .init(headerFields: response.headerFields, body: responseBody))
                }
            })
    }
}
