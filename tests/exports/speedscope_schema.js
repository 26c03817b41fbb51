/*
 * Check files with the JSON schema that speedscope comes with.
 */
'use strict';
const fs = require('fs');
const path = require('path');

const modules = process.argv[2];
const Ajv = require(path.join(modules, 'ajv'));
const release = path.join(modules, 'speedscope', 'dist', 'release');
const schema = JSON.parse(
	fs.readFileSync(path.join(release, 'file-format-schema.json')));
const validate = new Ajv({ strict: false }).compile(schema);

for (const file of process.argv.slice(3)) {
	if (!validate(JSON.parse(fs.readFileSync(file)))) {
		console.error(file, JSON.stringify(validate.errors));
		process.exit(1);
	}
}
console.log('valid');
