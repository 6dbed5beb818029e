import Testing

@testable import Postgres

@Suite struct UUIDTests {
    @Test(arguments: [
        "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "0190163d-8694-739b-aea5-966c26f8ad91",
    ])
    func parsesAndWritesTheTextForm(text: String) throws {
        let uuid = try #require(UUID(text))
        #expect(uuid.description == text)
        #expect(UUID(text.uppercased()) == uuid)
        var bytes: [UInt8] = [1]
        uuid.write(to: &bytes)
        #expect(bytes == [1] + Array(text.utf8))
    }

    @Test(arguments: [
        "", "0190163d8694739baea5966c26f8ad91", "0190163d-8694-739b-aea5-966c26f8ad9",
        "0190163d-8694-739b-aea5-966c26f8ad911", "0190163d-8694-739b-aea5-966c26f8ad9g",
        "{190163d-8694-739b-aea5-966c26f8ad91", "0190163d_8694-739b-aea5-966c26f8ad91",
    ])
    func rejectsOtherText(text: String) {
        #expect(UUID(text) == nil)
    }

    @Test func version7HasVersionAndVariantBitsAndIsOrderedByTime() throws {
        let first = UUID.version7()
        let text = first.description
        #expect(Array(text)[14] == "7")
        #expect("89ab".contains(Array(text)[19]))
        #expect(first.high >> 16 <= UUID.version7().high >> 16)
    }
}

@Suite struct ParametersTests {
    @Test func signatureDistinguishesListsOfTypes() {
        func signature(_ fill: (inout Parameters) -> Void) -> UInt64 {
            var parameters = Parameters()
            fill(&parameters)
            return parameters.signature
        }
        let signatures = [
            signature { _ in },
            signature { $0.append(int32: 1) },
            signature { $0.append(int64: 1) },
            signature {
                $0.append(int32: 1)
                $0.append(int64: 1)
            },
            signature {
                $0.append(int64: 1)
                $0.append(int32: 1)
            },
            signature { $0.appendNull(.inferred) },
        ]
        #expect(Set(signatures).count == signatures.count)
        #expect(signatures[1] == signature { $0.append(int32: nil) })
    }

    @Test func failedArrayLeavesTheOtherParametersUnchanged() throws {
        struct Stop: Error {}
        var parameters = Parameters()
        parameters.append(text: "before")
        #expect(throws: Stop.self) {
            try parameters.appendArray(of: .int32) { (elements: inout ArrayElements) throws(Stop) in
                elements.append(int32: 1)
                throw Stop()
            }
        }
        #expect(parameters.count == 1)
        #expect(parameters.bytes == Array("before".utf8))
    }
}
