import FoundationEssentials
import GraphQL
import TestSupport
import Testing
import Version

/// The software bill of materials that the container image contains.
@Suite struct MaterialsTests {
    @Test func listsSwiftAndDebianPackages() async throws {
        let script = Program(
            name: "sbom",
            environment: [
                "PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000",
                "SWIFT_VERSION": "6.3.1",
            ],
            folder: try Program.makeFolder(), path: "\(TestCluster.project)/scripts/sbom")
        let outcome = try await script.run()
        #expect(outcome.code == 0, "\(outcome.errors)")
        let document = try parseJSON(Array(outcome.output.utf8))
        #expect(document["spdxVersion"] == "SPDX-2.3")
        #expect(document["creationInfo", "created"] == "2023-11-14T22:13:20Z")
        let packages = document["packages"]?.list ?? []
        let ids = packages.compactMap { $0["SPDXID"]?.string }
        #expect(Set(ids).count == packages.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /SPDXRef-[0-9A-Za-z.-]+/) != nil })
        let versions = Dictionary(
            packages.map { ($0["name"]?.string ?? "", $0["versionInfo"]?.string ?? "") },
            uniquingKeysWith: { first, _ in first })
        #expect(versions["bookplate"] == bookplateVersion)
        #expect(versions["libc6"]?.isEmpty == false)
        let licenses = Dictionary(
            packages.map { ($0["name"]?.string ?? "", $0["licenseDeclared"]?.string ?? "") },
            uniquingKeysWith: { first, _ in first })
        #expect(licenses["bookplate"] == "Apache-2.0" && licenses["swift-nio"] == "Apache-2.0")
        #expect(licenses["swift-atomics"] == "Apache-2.0 WITH Swift-exception")
        #expect(versions["codemirror"] == "5.65.0" && licenses["codemirror"] == "MIT")
        for name in ["swift", "swift-foundation", "swift-corelibs-libdispatch"] {
            #expect(versions[name] == "6.3.1", "\(name)")
            #expect(licenses[name] == "Apache-2.0 WITH Swift-exception", "\(name)")
        }
        let libpq = packages.first { $0["name"] == "libpq5" }
        #expect(libpq?["licenseComments"]?.string?.hasPrefix("Debian: PostgreSQL") == true)
        let resolved = try parseJSON(
            Array(
                String(
                    contentsOfFile: "\(TestCluster.project)/Package.resolved", encoding: .utf8
                ).utf8))
        let pins = resolved["pins"]?.list ?? []
        #expect(!pins.isEmpty)
        // Only the client and tests contain these.
        let others = ["grdb.swift", "swift-nio-ssl"]
        for pin in pins {
            let name = pin["identity"]?.string ?? ""
            let version = others.contains(name) ? nil : pin["state", "version"]?.string
            #expect(versions[name] == version, "\(name)")
        }
        let related = (document["relationships"]?.list ?? []).compactMap {
            $0["relatedSpdxElement"]?.string
        }
        #expect(Set(related) == Set(ids))
    }
}
